import { relative } from 'node:path';
import type { Demo } from './demo.ts';
import { demoFilePath } from './demo-file.ts';
import { columns, styles } from './terminal.ts';

const plain = (text: string): string => text;

/**
 * Returns the text that the terminal shows once the demo runs: URLs to open, things to try, and users to sign
 * in as. The rest is in `demo.json`.
 */
export async function demoTable({ file, dataDir, partnerUrl, server }: Demo): Promise<string> {
  const path = relative(process.cwd(), demoFilePath(dataDir));
  const users: string[][] = [];
  for (const { handle, password } of file.users) {
    const account = await server.installation.accounts.get(handle);
    users.push([handle, password, account?.kycStatus ?? '']);
  }
  const testKey = file.apiKeys.find(({ mode }) => mode === 'test')?.key ?? '';
  const ways = [
    ['Take the access of the shop away again', `${file.authUrl}/account/apps`],
    ['Receive cashback, and watch the signed event arrive', `${partnerUrl}/webhooks`],
    ['Be a partner: trigger events, with the test key', `${file.authUrl}/sandbox`],
  ];
  // Staff sign in on a page of their own, which the pages for operators lead to.
  users.push([
    file.operator.email,
    file.operator.password,
    `runs the service (leave Code empty): ${file.authUrl}/operators`,
  ]);
  const captions = ['Handle', 'Password', 'Identity check'];
  return `
${styles.heading('Ostiary is running, and a shop that signs people in with it.')}

${styles.heading('Begin here')}, and press “Sign in with Ostiary”
  ${styles.address(partnerUrl)}

${styles.heading('What to try next')}
${columns(ways, [plain, styles.address])}

${styles.heading('Sign in as one of')}
${columns([captions, ...users], [plain, styles.secret])}

${styles.heading('Test key')}   ${styles.secret(testKey)}

${styles.quiet(`Every key and secret is in ${path.startsWith('..') ? demoFilePath(dataDir) : path}: demo data, for this machine only. Ctrl+C stops both.`)}
`;
}
