import type { DefaultTheme } from 'vitepress';
import { addressOf } from './repository.ts';

/** Link text and path of a page in the repository. */
type Entry = readonly [text: string, page: string];

/** Groups of the sidebar: a title, mostly of a kind of reader, and the pages, most requested pages first. */
export const groups: readonly (readonly [reader: string, pages: readonly [Entry, ...Entry[]]])[] = [
  [
    'Begin',
    [
      ['All pages', 'docs/README.md'],
      ['What Ostiary is', 'README.md'],
      ['Words and ideas', 'docs/concepts.md'],
      ['Is it right for me?', 'docs/comparison.md'],
    ],
  ],
  [
    'I embed it',
    [
      ['Quickstart', 'docs/quickstart-embed.md'],
      ['Users, login, scopes', 'docs/embedding.md'],
      ['Express, Fastify, Next.js, …', 'docs/mounting.md'],
      ['Before production', 'docs/configuration.md'],
      ['Partners, keys, clients', 'docs/administration.md'],
      ['Protect an API of mine', 'docs/own-api.md'],
      ['Tokens for one API', 'docs/resources.md'],
      ['Let assistants in (MCP)', 'docs/mcp.md'],
      ['Recipes', 'docs/recipes.md'],
      ['Events with an ORM', 'docs/orms.md'],
      ['Tests', 'docs/testing.md'],
      ['All options', 'docs/reference/options.md'],
      ['Words of the pages', 'docs/reference/texts.md'],
    ],
  ],
  [
    'I am a partner',
    [
      ['Quickstart', 'docs/quickstart-partner.md'],
      ['Pay, verify, reconcile', 'docs/partner-api.md'],
      ['Sign users in', 'docs/clients.md'],
      ['Client SDK', 'packages/client-sdk/README.md'],
      ['Webhooks on your machine', 'packages/listen/README.md'],
      ['Sandbox console', 'docs/sandbox.md'],
      ['API reference', 'docs/reference/partner-endpoints.md'],
      ['Errors', 'docs/reference/partner-errors.md'],
      ['Scopes', 'docs/reference/scopes.md'],
    ],
  ],
  [
    'I receive webhooks',
    [
      ['Quickstart', 'docs/quickstart-receiver.md'],
      ['How they are delivered', 'docs/webhooks.md'],
      ['Verify in JavaScript', 'docs/webhook-verifier.md'],
      ['Verify in Python, Go, …', 'docs/webhook-verifier-languages.md'],
      ['Events', 'docs/reference/events.md'],
    ],
  ],
  [
    'I run the servers',
    [
      ['Quickstart', 'docs/quickstart-operate.md'],
      ['The reference server', 'examples/reference-server/README.md'],
      ['Deploy', 'docs/deploy.md'],
      ['Deploy with compose', 'docs/compose.md'],
      ['Deploy on Kubernetes', 'docs/kubernetes.md'],
      ['The container image', 'docs/image.md'],
      ['Back up and restore', 'docs/backup.md'],
      ['Replace keys and secrets', 'docs/key-rotation.md'],
      ['Update', 'docs/upgrade.md'],
      ['Many processes', 'docs/cluster.md'],
      ['How many processes', 'docs/scaling.md'],
      ['Connect to PostgreSQL', 'docs/postgresql.md'],
      ['Find out what is wrong', 'docs/doctor.md'],
      ['Pages for operators', 'docs/operators.md'],
      ['Logs, metrics, traces', 'docs/telemetry.md'],
      ['When an alert fires', 'docs/alerts.md'],
      ['Move to PostgreSQL', 'docs/moving.md'],
      ['Come from another server', 'docs/import.md'],
      ['Versions', 'docs/versioning.md'],
    ],
  ],
  [
    'I decide, or build on it',
    [
      ['Security', 'SECURITY.md'],
      ['Conformance', 'docs/conformance.md'],
      ['Performance', 'docs/performance.md'],
      ['Architecture', 'docs/architecture.md'],
      ['A storage of my own', 'docs/storage.md'],
      ['Contribute', 'CONTRIBUTING.md'],
      ['OAuth endpoints', 'docs/reference/endpoints.md'],
      ['OAuth errors', 'docs/reference/errors.md'],
    ],
  ],
  [
    'Packages',
    [
      ['core', 'packages/core/README.md'],
      ['adapter-sqlite', 'packages/adapter-sqlite/README.md'],
      ['adapter-postgres', 'packages/adapter-postgres/README.md'],
      ['cli', 'packages/cli/README.md'],
      ['console', 'packages/console/README.md'],
      ['create-ostiary', 'packages/create-ostiary/README.md'],
      ['testing', 'packages/testing/README.md'],
      ['webhook-verifier', 'packages/webhook-verifier/README.md'],
    ],
  ],
];

/** Link to a separate build beside the pages. The browser must load this build anew. */
const typeScript: DefaultTheme.SidebarItem = {
  text: 'Every function and type',
  link: '/typescript/index.html',
  target: '_self',
};

export const sidebar: DefaultTheme.SidebarItem[] = groups.map(([text, pages]) => ({
  text,
  // Groups open by script, so the first page of a group can also be reached without opening it.
  link: addressOf(pages[0][1]),
  // VitePress opens the group of the page that is shown.
  collapsed: true,
  items: [
    ...pages.map(([name, page]) => ({ text: name, link: addressOf(page) })),
    ...(text === 'Packages' ? [typeScript] : []),
  ],
}));
