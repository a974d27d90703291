import { relative } from 'node:path';
import type { Demo } from './demo.ts';
import { demoFilePath } from './demo-file.ts';

function columns(rows: readonly (readonly string[])[]): string {
  const widthOf = (at: number): number => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widthOf(at))).join('   ');
  return rows.map((row) => `  ${line(row).trimEnd()}`).join('\n');
}

/** What the terminal shows once everything runs: where to go, and whom to be. The rest is in `demo.json`. */
export async function demoTable({ file, dataDir, partnerUrl, server }: Demo): Promise<string> {
  const path = relative(process.cwd(), demoFilePath(dataDir));
  const users: string[][] = [];
  for (const { handle, password } of file.users) {
    const account = await server.installation.accounts.get(handle);
    users.push([handle, password, account ? `identity ${account.kycStatus}` : '']);
  }
  const testKey = file.apiKeys.find(({ mode }) => mode === 'test')?.key ?? '';
  return `
Ostiary is running, and a shop that signs people in with it. Start at the shop.

${columns([
  ['Kafe Lakay, the shop', partnerUrl],
  ['Ostiary', file.authUrl],
  ['Console for partners', `${file.authUrl}/sandbox`],
])}

Sign in as one of

${columns(users)}

and on the console with the test key

  ${testKey}

All keys and secrets are in ${path.startsWith('..') ? demoFilePath(dataDir) : path}: demo data, for this machine only. Ctrl+C stops both.
`;
}
