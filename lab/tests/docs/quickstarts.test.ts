import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { partnerProvider } from '../../../packages/core/test/support/partner-api.ts';
import { compilers } from '../../support/compilers.ts';
import { root, textOf } from '../../support/documentation.ts';
import {
  answers,
  browser,
  commandOf,
  folderOf,
  type Program,
  printed,
  run,
  start,
  until,
  useCheckout,
  withPorts,
} from './support/reader-folder.ts';

useCheckout();

const partnerPage = 'docs/quickstart-partner.md';
let partnerFolder: Promise<string> | undefined;
/** Returns the folder with the files of the quickstart page for partners. The folder is created once. */
const folderOfPartner = (): Promise<string> => {
  partnerFolder ??= folderOf(partnerPage);
  return partnerFolder;
};

it('the quickstart for those who embed ends with a user who signed in, a payment and a webhook; the one for partners works on it', async () => {
  const page = 'docs/quickstart-embed.md';
  const folder = await folderOf(page);
  await run(folder, commandOf(page, 'SEALING_KEY'));
  const server = start(folder, commandOf(page, 'server.ts'));
  await until(answers(withPorts('http://localhost:3000/login')), server);

  await run(folder, commandOf(page, 'partners create'));
  const key = printed('key', await run(folder, commandOf(page, 'keys issue')));
  const client = await run(folder, commandOf(page, 'clients create'));
  const shopEnv = {
    API_KEY: key,
    CLIENT_ID: printed('client_id', client),
    CLIENT_SECRET: printed('client_secret', client),
    WEBHOOK_SECRET: 'a secret of a reader',
  };
  const lines = Object.entries(shopEnv).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(folder, 'shop.env'), lines.join('\n'));
  const shop = start(folder, commandOf(page, 'shop.ts'));
  await until(answers(withPorts('http://localhost:4000/')), shop);
  const registered = async () => {
    const headers = { 'x-api-key': key };
    const answer = await fetch(withPorts('http://localhost:3000/v1/partner/webhooks'), { headers });
    return (await answer.text()).includes('/webhooks');
  };
  await until(registered, shop);

  const open = browser();
  const login = await open(withPorts('http://localhost:4000/'));
  const consent = await open(login.url, { handle: 'ana', password: 'kafe ak pen' });
  const csrf = /name="csrf" value="([^"]*)"/.exec(consent.text)?.[1] ?? '';
  const greeting = await open(consent.url, { csrf, decision: 'approve' });
  expect(greeting.text).toMatch(/^Hello Ana Pierre! .*tr_/);
  await until(() => shop.said().includes('payment.completed'), shop);

  // An app may require the password of a signed-in user again, once.
  const again = await fetch(withPorts('http://localhost:4000/'), { redirect: 'manual' });
  const asked = await open(`${again.headers.get('location')}&prompt=login`);
  expect(asked.text).toContain('name="password"');
  expect((await open(asked.url, { handle: 'ana', password: 'kafe ak pen' })).text).toContain('name="csrf"');

  // No error has been logged until now.
  expect(server.said()).not.toContain('ERROR');

  // Ports in use cause the errors that the page explains.
  const second: Program[] = [];
  for (const words of ['server.ts', 'shop.ts']) second.push(start(folder, commandOf(page, words)));
  for (const { ended, said } of second) {
    expect(await ended).toBe(1);
    expect(said()).toContain('EADDRINUSE');
  }

  // Run the partner's page with a test key of this installation.
  const testKey = printed(
    'key',
    await run(folder, 'node --env-file=.env admin.ts keys issue kafe --mode test --scope all'),
  );
  const said = await run(
    await folderOfPartner(),
    commandOf(partnerPage, 'pay.ts').replace('svc_test_…', testKey),
    {
      OSTIARY_BASE_URL: withPorts('http://localhost:3000'),
    },
  );
  expect(said).toContain('This is KID-TEST-APPROVED approved');
  expect(said).toMatch(/^tr_\w+ pending$/m);
}, 300_000);

it('the quickstart for receivers accepts what is signed and refuses everything else', async () => {
  const page = 'docs/quickstart-receiver.md';
  const folder = await folderOf(page);
  const receiver = start(folder, commandOf(page, 'receiver.ts'));
  await until(answers(withPorts('http://localhost:4000/')), receiver);
  const [signed = '', ...forged] = (await run(folder, commandOf(page, 'send.ts'))).trim().split('\n');
  expect(signed).toBe('signed: 200 again: 200');
  expect(forged.length).toBeGreaterThan(20);
  expect(forged.filter((line) => !line.endsWith(': 400'))).toEqual([]);
}, 120_000);

// The strictest resolution (`node16`): later ones let CommonJS require an ES module.
it('the five minutes of the SDK compile under strict TypeScript, as ES module and as CommonJS, and work', async () => {
  const page = 'packages/client-sdk/README.md';
  const { provider } = await partnerProvider({ webhooks: { allowPrivateTargets: true } });
  const [, section = ''] = textOf(page).split('\n## Five minutes\n');
  const programs = section.split('\n## ')[0]?.match(/(?<=```ts\n)[\s\S]*?(?=```)/g) ?? [];
  expect(programs).toHaveLength(1);
  // The reader only has to replace the URL.
  const program = (programs[0] ?? '').replace('https://api.example.com', provider.origin);
  expect(program).toContain(provider.origin);
  const folder = await folderOfPartner();
  const files = ['app.mts', 'app.cts'];
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ skipLibCheck: false, target: 'es2022', lib: ['es2023'], module: 'node16', outDir: 'out' },
    // A TypeScript program on Node also needs the types of Node.
    ...{ typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  writeFileSync(join(folder, 'app.mts'), program);
  // Wrap the statements in a function, because CommonJS has no top-level await.
  const [, imports = '', rest = ''] = /^((?:import .*\n)+)([\s\S]*)$/.exec(program) ?? [];
  writeFileSync(join(folder, 'app.cts'), `${imports}async function main() {\n${rest}}\nmain();\n`);
  const said = await run(folder, `node ${compilers[7]} -p .`);
  expect(said).toBe('');
  for (const file of ['out/app.mjs', 'out/app.cjs']) {
    // A new partner for each file, because a reference belongs to one payment for ever.
    const { key, partner, id } = await provider.key({ mode: 'test' });
    const printed = await run(folder, `node ${file}`, { OSTIARY_API_KEY: key });
    const lines = printed.trim().split('\n');
    expect(lines[0]).toMatch(new RegExp(`^key +ok +${id} of ${partner}, expires: never$`));
    expect(lines.filter((line) => /^[\w ]+ +(failed|warning) /.test(line))).toEqual([]);
    expect(lines.at(-3)).toBe('KID-TEST-APPROVED approved');
    expect(lines.at(-2)).toMatch(/^tr_\w+ pending$/);
    expect(lines.at(-1)).toMatch(/^(pending|completed)$/);
  }
}, 120_000);
