import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fakeKey, faulty, hang, pass, resetAfter } from '../../../packages/client-sdk/test/support/faulty.ts';
import { clientOf } from '../../../packages/client-sdk/test/support/partner.ts';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { partnerProvider } from '../../../packages/core/test/support/partner-api.ts';
import type { Findings, Surroundings } from './sdk-smoke.ts';

const root = resolve(import.meta.dirname, '../../..');
const sdk = join(root, 'packages/client-sdk');
const installed = join(import.meta.dirname, 'node_modules');
const execute = promisify(execFile);

/** `nobody` who has seen an environment of this repository: no options, no conditions. */
const env = { PATH: process.env.PATH ?? '', HOME: tmpdir(), NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ostiary-sdk-runtimes-'));
  const target = join(folder, 'node_modules/@ostiary/client-sdk');
  await mkdir(target, { recursive: true });
  await cp(join(sdk, 'package.json'), join(target, 'package.json'));
  const manifest = { type: 'module', dependencies: { '@ostiary/client-sdk': '*' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const tsup = join(root, 'node_modules/.bin/tsup');
  await execute(tsup, ['--no-dts', '--out-dir', join(target, 'dist')], { cwd: sdk });
  // The program as plain JavaScript beside the installed package, which stays as it is published.
  await build({
    entryPoints: [join(import.meta.dirname, 'entries/sdk.ts')],
    outfile: join(folder, 'sdk.mjs'),
    bundle: true,
    format: 'esm',
    external: ['@ostiary/*', 'node:*'],
    target: 'node18',
  });
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const listening = (server: { address(): unknown }): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** An address at which nobody listens. */
async function closedPort(): Promise<string> {
  const server = createTcpServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = listening(server);
  await new Promise((closed) => server.close(closed));
  return origin;
}

/** A real server with two transfers that are final, one that breaks before it, and a browser in which Ana is signed in. */
async function surroundings(file: string): Promise<Surroundings> {
  const { provider } = await partnerProvider();
  const { key: apiKey, signingSecret } = await provider.key({ mode: 'test', requireSignature: true });
  const { ostiary } = clientOf(provider.origin, apiKey, { signingSecret, now: () => provider.clock.now() });
  const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } } as const;
  for (const reference of ['order-1', 'order-2']) await ostiary.payments.create({ ...payment, reference });
  for (let isPending = true; isPending; ) {
    await provider.ostiary.worker.runDue();
    isPending = (await ostiary.payments.list({ status: 'pending' }).page()).data.length > 0;
  }
  const before = await faulty([resetAfter, pass, hang], provider.origin);
  const redirectUri = 'https://app.example/callback';
  const app = await provider.client({ redirectUris: [redirectUri] });
  const browser = createServer(async (request, response) => {
    const { location } = await provider.follow(provider.browser(ana.sub), await text(request));
    response.end(location);
  });
  await new Promise<void>((ready) => browser.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    browser.closeAllConnections();
    browser.close();
  });
  return {
    ...{ apiKey, signingSecret, file },
    direct: provider.origin,
    faulty: before.origin,
    closed: await closedPort(),
    browser: listening(browser),
    client: { clientId: app.id, clientSecret: app.secret ?? '', redirectUri },
    date: new Date(provider.clock.now()).toISOString().slice(0, 10),
  };
}

const deno = [
  'run',
  '--no-remote',
  '--node-modules-dir=manual',
  '--no-prompt',
  '--allow-net=127.0.0.1,localhost',
  '--allow-read',
  '--allow-write',
  '--allow-env',
];

describe('the built client SDK does what a partner needs', () => {
  it.each<[string, string, readonly string[]]>([
    ['Node 18', join(installed, 'node18/bin/node'), []],
    ['Node 20', join(installed, 'node20/bin/node'), []],
    ['Node 22', join(installed, 'node22/bin/node'), []],
    ['Node 24', process.execPath, []],
    ['Bun', join(installed, '.bin/bun'), []],
    ['Deno', join(installed, '.bin/deno'), deno],
  ])(
    'in %s',
    async (name, command, options) => {
      const file = join(folder, `${name.replace(' ', '-')}.csv`);
      const given = JSON.stringify(await surroundings(file));
      const started = performance.now();
      const { stdout } = await execute(command, [...options, 'sdk.mjs', given], {
        cwd: folder,
        env,
        timeout: 60_000,
      });
      console.log(`${name}: ${Math.round(performance.now() - started)} ms`);
      expect(JSON.parse(stdout)).toEqual({
        mode: 'test',
        verified: 'KID-TEST-APPROVED',
        attempts: 2,
        replayed: 'true',
        hung: [true, 'unknown'],
        listed: [3, true],
        exported: [2, 2],
        refused: [true, 'not_executed'],
        // Whether there never was a connection can be told from the errors of Node only.
        unreachable: name.startsWith('Node')
          ? 'not_executed'
          : expect.stringMatching(/^(not_executed|unknown)$/),
        signedIn: ['Ana Joseph', ['openid', 'profile']],
        revoked: 'invalid_token',
        shown: false,
      } satisfies Findings);
      expect(
        (await readFile(file, 'utf8')).split('\r\n').filter((line) => line.startsWith('tr_')),
      ).toHaveLength(2);
    },
    90_000,
  );

  it('in CommonJS too, with one class of errors and of clients for all entries', async () => {
    const lines = [
      `const { NotFoundError, OstiaryError, OstiaryPartner } = require('@ostiary/client-sdk');`,
      `const { CallbackError } = require('@ostiary/client-sdk/oauth');`,
      `const { exportReconciliation } = require('@ostiary/client-sdk/reconciliation');`,
      `const fetch = async () => new Response('{"code":"not_found","message":"No."}', { status: 404 });`,
      `const ostiary = new OstiaryPartner({ apiKey: '${fakeKey}', baseUrl: 'https://api.example', fetch });`,
      `const rows = exportReconciliation(ostiary, { date: '2026-03-01' })[Symbol.asyncIterator]();`,
      `const classes = (error) => [CallbackError.prototype instanceof OstiaryError, error instanceof NotFoundError];`,
      `rows.next().catch((error) => console.log(JSON.stringify(classes(error))));`,
    ];
    await writeFile(join(folder, 'common.cjs'), lines.join('\n'));
    for (const command of ['node18/bin/node', 'node20/bin/node', 'node22/bin/node', '.bin/bun']) {
      const { stdout } = await execute(join(installed, command), ['common.cjs'], { cwd: folder, env });
      expect([command, JSON.parse(stdout)]).toEqual([command, [true, true]]);
    }
  });
});
