import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf } from '../../../packages/webhook-verifier/test/cases/cases.ts';
import { vectors } from '../../../packages/webhook-verifier/test/vectors/vectors.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import type { Report } from './runner.ts';

const root = resolve(import.meta.dirname, '../../..');
const verifier = join(root, 'packages/webhook-verifier');
const installed = join(import.meta.dirname, 'node_modules');
const execute = promisify(execFile);

/** `nobody` who has seen an environment of this repository: no options, no conditions. */
const env = { PATH: process.env.PATH ?? '', HOME: tmpdir(), NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ostiary-runtimes-'));
  const target = join(folder, 'node_modules/@ostiary/webhook-verifier');
  await mkdir(target, { recursive: true });
  for (const name of ['package.json', 'vectors.json']) await cp(join(verifier, name), join(target, name));
  const manifest = { type: 'module', dependencies: { '@ostiary/webhook-verifier': '*' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const tsup = join(root, 'node_modules/.bin/tsup');
  await execute(tsup, ['--no-dts', '--out-dir', join(target, 'dist')], { cwd: verifier });
  // The cases and the entries as plain JavaScript beside the installed package, which stays as it is published.
  await build({
    entryPoints: ['server', 'browser'].map((name) => join(import.meta.dirname, 'entries', `${name}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    external: ['@ostiary/*', 'node:*'],
    target: 'node18',
  });
  // What an application for browsers does with it.
  await build({
    entryPoints: [join(folder, 'browser.mjs')],
    outfile: join(folder, 'browser.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
  });
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function runIn(command: string, args: readonly string[]): Promise<Report> {
  const { stdout } = await execute(command, [...args, 'server.mjs'], { cwd: folder, env, timeout: 60_000 });
  return JSON.parse(stdout);
}

const shared = casesOf({} as never, vectors).length;
const deno = [
  'run',
  '--no-remote',
  '--node-modules-dir=manual',
  '--no-prompt',
  '--allow-net=127.0.0.1,localhost',
  '--allow-read',
  '--allow-env',
];

describe('the built webhook verifier passes every case', () => {
  it.each<[string, string, readonly string[]]>([
    ['Node 18', join(installed, 'node18/bin/node'), []],
    ['Node 20', join(installed, 'node20/bin/node'), []],
    ['Node 22', join(installed, 'node22/bin/node'), []],
    ['Node 24', process.execPath, []],
    ['Bun', join(installed, '.bin/bun'), []],
    ['Deno', join(installed, '.bin/deno'), deno],
  ])('in %s, with its node:crypto', async (_name, command, args) => {
    expect(await runIn(command, args)).toEqual({ passed: shared + 2, failures: [], webVerifications: 0 });
  });

  it('in CommonJS too, with one class of errors for all of its parts', async () => {
    const parts = ['', '/dedupe', '/express', '/fastify', '/fetch', '/hono', '/koa', '/next'];
    const lines = [
      `const [main, , ...receivers] = ${JSON.stringify(parts)}.map((part) => require('@ostiary/webhook-verifier' + part));`,
      `const refusals = receivers.map((each) => { try { (each.webhook ?? each.webhookApi)({ secret: '' }, () => {}); } catch (error) { return error instanceof main.WebhookVerificationError; } });`,
      `console.log(JSON.stringify([refusals, require('@ostiary/webhook-verifier/vectors.json').cases.length]));`,
    ];
    await writeFile(join(folder, 'common.cjs'), lines.join('\n'));
    for (const command of ['node18/bin/node', 'node20/bin/node', 'node22/bin/node', '.bin/bun']) {
      const { stdout } = await execute(join(installed, command), ['common.cjs'], { cwd: folder, env });
      expect(JSON.parse(stdout)).toEqual([Array.from({ length: 6 }, () => true), vectors.length]);
    }
  });

  it('in Node 20 and 24 under the conditions of Workers, with WebCrypto', async () => {
    for (const command of [join(installed, 'node20/bin/node'), process.execPath]) {
      const { failures, passed, webVerifications } = await runIn(command, ['--conditions=workerd']);
      expect([passed, failures]).toEqual([shared + 2, []]);
      expect(webVerifications).toBeGreaterThan(100);
    }
  });

  it('in Chromium, bundled for browsers, with WebCrypto', async () => {
    const server = createServer((request, response) => {
      const script = request.url === '/browser.js';
      response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
      if (!script) return response.end('<!doctype html><script type="module" src="/browser.js"></script>');
      return createReadStream(join(folder, 'browser.js')).pipe(response);
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      const { failures, passed, webVerifications } = await page.evaluate(
        () => (globalThis as unknown as { report: Promise<Report> }).report,
      );
      expect([passed, failures]).toEqual([shared + 1, []]);
      expect(webVerifications).toBeGreaterThan(100);
    } finally {
      await browser.close();
      server.close();
    }
  });
});
