import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../packages/core/test/support/running.ts';
import { casesOf } from '../../../packages/webhook-verifier/test/cases/cases.ts';
import { vectors } from '../../../packages/webhook-verifier/test/vectors/vectors.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { type Installed, install, runtimes } from './installed.ts';
import type { Report } from './runner.ts';

let verifier: Installed;
beforeAll(async () => {
  verifier = await install('webhook-verifier', ['package.json', 'vectors.json'], ['server', 'browser']);
}, 60_000);
afterAll(() => verifier.remove());

const shared = casesOf({} as never, vectors).length;

describe('the built webhook verifier passes every case', () => {
  it.each(Object.keys(runtimes))('in %s, with its node:crypto', async (runtime) => {
    const report = await verifier.run(runtime, 'server.mjs');
    expect(report).toEqual({ passed: shared + 2, failures: [], webVerifications: 0 } satisfies Report);
  });

  it('in CommonJS too, with one class of errors for all of its parts', async () => {
    const parts = ['', '/dedupe', '/express', '/fastify', '/fetch', '/hono', '/koa', '/next'];
    const answers = await verifier.required([
      `const [main, , ...receivers] = ${JSON.stringify(parts)}.map((part) => require('@ostiary/webhook-verifier' + part));`,
      `const refusals = receivers.map((each) => { try { (each.webhook ?? each.webhookApi)({ secret: '' }, () => {}); } catch (error) { return error instanceof main.WebhookVerificationError; } });`,
      `console.log(JSON.stringify([refusals, require('@ostiary/webhook-verifier/vectors.json').cases.length]));`,
    ]);
    expect(answers).toEqual(answers.map(() => [Array.from({ length: 6 }, () => true), vectors.length]));
  });

  it.each(['Node 20', 'Node 24'])(
    'in %s under the conditions of Workers, with WebCrypto',
    async (runtime) => {
      const report = await verifier.run(runtime, 'server.mjs', [], ['--conditions=workerd']);
      expect(report).toMatchObject({ passed: shared + 2, failures: [] });
      expect((report as Report).webVerifications).toBeGreaterThan(100);
    },
  );

  it('in Chromium, bundled for browsers, with WebCrypto', async () => {
    const outfile = join(verifier.folder, 'browser.js');
    const entryPoints = [join(verifier.folder, 'browser.mjs')];
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'browser' });
    const origin = await serve(async (request, response) => {
      const isScript = request.url === '/browser.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
      response.end(
        isScript
          ? await readFile(outfile)
          : '<!doctype html><script type="module" src="/browser.js"></script>',
      );
    });
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(origin);
    const { failures, passed, webVerifications } = await page.evaluate(
      () => (globalThis as unknown as { report: Promise<Report> }).report,
    );
    expect([passed, failures]).toEqual([shared + 1, []]);
    expect(webVerifications).toBeGreaterThan(100);
  });
});
