import { relative } from 'node:path';
import type { Demo } from './demo.ts';
import { demoFilePath } from './demo-file.ts';

function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows
    .map(
      (row) =>
        `  ${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('   ')
          .trimEnd()}`,
    )
    .join('\n');
}

/** What the terminal shows once everything runs: where to go, and whom to be. */
export async function demoTable({ file, dataDir, partnerUrl, server }: Demo): Promise<string> {
  const path = relative(process.cwd(), demoFilePath(dataDir));
  const users: string[][] = [];
  for (const { handle, password, phone } of file.users) {
    const account = await server.installation.accounts.get(handle);
    users.push([handle, password, account ? `${account.kycStatus} (tier ${account.kycTier})` : '', phone]);
  }
  const clients = file.clients.flatMap(({ clientId, clientSecret, redirectUris }) =>
    redirectUris.map((uri, at) =>
      at === 0 ? [clientId, clientSecret ?? 'none (public)', uri] : ['', '', uri],
    ),
  );
  const apiKeys = file.apiKeys.map(({ mode, key, signingSecret }) => [mode, key, signingSecret]);
  const webhooks = file.webhooks.map(({ mode, url, secret }) => [mode, url, secret]);
  return `
Ostiary is running. Ctrl+C stops it.

${columns([
  ['Start here: Kafe Lakay, a shop', `${partnerUrl}/`],
  ['What the shop was told, by webhooks', `${partnerUrl}/webhooks`],
  ['The same without a server', `${partnerUrl}/spa`],
  ['Ostiary', `${file.authUrl}/`],
  ['Passport', `${file.authUrl}/passport`],
  ['Connected apps', `${file.authUrl}/account/apps`],
  ['Discovery', `${file.authUrl}/.well-known/openid-configuration`],
  ['Sandbox console', `${file.authUrl}/sandbox`],
  ['Partner API', `${file.baseUrl}/v1/openapi.json`],
])}

${columns([['HANDLE', 'PASSWORD', 'IDENTITY CHECK', 'PHONE'], ...users])}

${columns([['CLIENT ID', 'CLIENT SECRET', 'REDIRECT URIS'], ...clients])}

${columns([['MODE', 'API KEY OF KAFE LAKAY', 'SIGNING SECRET'], ...apiKeys])}

The sandbox console asks for a test key: the API key in the line "test" above, also in demo.json.

${columns([['MODE', 'WEBHOOK ENDPOINT OF KAFE LAKAY', 'WEBHOOK SECRET'], ...webhooks])}

This is demo data, for this machine only. It is kept in ${path.startsWith('..') ? demoFilePath(dataDir) : path}
`;
}
