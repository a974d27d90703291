import { defaultLanguages, frameworks, languages, storages } from './choices.ts';

export const help = `npm create ostiary [folder] -- [options]

Writes a small server of your own with Ostiary in it, an OAuth 2.0 / OpenID Connect provider.
What you do not say is asked for; where nobody can answer, it is the default.

  --framework  ${frameworks.join(' | ')} (${frameworks[0]})
  --storage    ${storages.join(' | ')} (${storages[0]})
  --languages  of the pages, some of ${languages.join(',')} (${defaultLanguages.join(',')})
  --mcp        with an MCP server, whose tools assistants call for your users
  --yes        take the defaults and ask nothing
  --help       show this
  --version    show the version
`;
