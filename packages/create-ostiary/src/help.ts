import { defaultLanguages, frameworks, languages, storages } from './choices.ts';

export const help = `npm create ostiary [folder] -- [options]

Writes a small server that embeds Ostiary, an OAuth 2.0 / OpenID Connect provider.
In a terminal, the command asks for every choice that is missing. Without a terminal, it takes the default.

  --framework  ${frameworks.join(' | ')} (${frameworks[0]})
  --storage    ${storages.join(' | ')} (${storages[0]})
  --languages  of Ostiary's pages, any of ${languages.join(',')} (${defaultLanguages.join(',')})
  --mcp        with an MCP server, whose tools assistants call for your users
  --yes        take the defaults and ask nothing
  --help       show this
  --version    show the version
`;
