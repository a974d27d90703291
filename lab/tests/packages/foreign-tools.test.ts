import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer } from '../../../examples/reference-server/test/support/server.ts';
import { freePort } from '../../support/free-port.ts';
import { type PartnerFolder, partnerFolderWith } from '../../support/packages/installed.ts';
import { run, start } from '../../support/shell.ts';
import { deliver, secret } from './support/delivery.ts';

// On demand only: the runtime of Workers alone has 120 MB.
const isEvery = process.env.TEST_EVERY_APP !== undefined;
const tools = {
  ...{ '@types/node': '18.0.0', metro: '0.87.1', miniflare: '4.20260730.0', typescript: '4.7.4' },
};

let installed: PartnerFolder | undefined;
beforeAll(async () => {
  if (isEvery) installed = await partnerFolderWith(['client-sdk', 'webhook-verifier'], tools);
}, 300_000);
afterAll(() => installed?.remove());

/** Writes a file into the folder of the partner. @returns the path of the folder */
function written(name: string, text: string): string {
  const folder = installed?.folder ?? '';
  writeFileSync(join(folder, name), text);
  return folder;
}

/** Starts a server with a partner and a test key. */
async function service() {
  const { server, origin } = await startServer();
  const { partners, apiKeys } = server.installation.ostiary.admin;
  await partners.create({ slug: 'kafe', name: 'Kafe Lakay' });
  const { key } = await apiKeys.issue({ partner: 'kafe', mode: 'test', scopes: ['payments:read'] });
  return { origin, key };
}

const worker = `
import { OstiaryPartner } from '@ostiary/client-sdk';
import { OstiaryOAuth } from '@ostiary/client-sdk/oauth';
import { webhook } from '@ostiary/webhook-verifier/fetch';

export default {
  async fetch(request, { KEY, BASE, WEBHOOK_SECRET }) {
    if (request.method === 'POST') return webhook({ secret: WEBHOOK_SECRET }, () => {})(request);
    const { partner, mode } = await new OstiaryPartner({ apiKey: KEY, baseUrl: BASE }).whoami();
    return Response.json({ partner, mode, oauth: typeof OstiaryOAuth });
  },
};`;

const hostOfWorker = `
import { Miniflare } from 'miniflare';

const { PORT, KEY, BASE, WEBHOOK_SECRET } = process.env;
const bindings = { KEY, BASE, WEBHOOK_SECRET };
const options = { modules: true, scriptPath: 'worker.mjs', compatibilityDate: '2026-01-01' };
await new Miniflare({ ...options, bindings, host: '127.0.0.1', port: Number(PORT) }).ready;
console.log('ready');`;

it.runIf(isEvery)(
  'SDK and verifier run in Miniflare, which reads the script of a Worker from its path',
  async () => {
    const { origin, key } = await service();
    const folder = written('worker.js', worker);
    written('miniflare.js', hostOfWorker);
    await build({
      ...{ entryPoints: [join(folder, 'worker.js')], outfile: join(folder, 'worker.mjs') },
      ...{ bundle: true, format: 'esm', conditions: ['workerd', 'worker', 'browser'] },
    });
    const port = await freePort();
    const env = { PORT: String(port), KEY: key, BASE: origin, WEBHOOK_SECRET: secret };
    const program = start(folder, 'exec node miniflare.js', env);
    try {
      await expect.poll(() => program.said()).toContain('ready');
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      expect(await answer.json()).toMatchObject({ mode: 'test', oauth: 'function' });
      expect(await deliver(`http://127.0.0.1:${port}/`)).toEqual([200, { received: true }]);
      expect(await deliver(`http://127.0.0.1:${port}/`, 'another secret of it')).toMatchObject([
        400,
        { error: 'signature_mismatch' },
      ]);
    } finally {
      await program.stop();
    }
  },
  180_000,
);

const app = `
import { OstiaryPartner } from '@ostiary/client-sdk';
import { OstiaryOAuth } from '@ostiary/client-sdk/oauth';
import { exportReconciliation } from '@ostiary/client-sdk/reconciliation';
import { verify } from '@ostiary/webhook-verifier';

globalThis.loaded = [typeof OstiaryOAuth, typeof exportReconciliation, typeof verify];
globalThis.who = (apiKey, baseUrl) => new OstiaryPartner({ apiKey, baseUrl, dangerouslyAllowBrowser: true }).whoami();`;

const metro = `
import Metro from 'metro';

const config = await Metro.loadConfig({ cwd: process.cwd() });
// Conditions of React Native's configuration.
Object.assign(config.resolver, { unstable_conditionNames: ['react-native'], platforms: ['ios', 'android'] });
config.transformer.getTransformOptions = async () => ({ transform: { experimentalImportSupport: true } });
await Metro.runBuild(config, { entry: 'app.js', platform: 'ios', dev: false, minify: false, out: 'app.bundle' });
process.exit(0);`;

it.runIf(isEvery)(
  'Metro bundles SDK and verifier, and the bundle runs with what React Native has',
  async () => {
    const { origin, key } = await service();
    const folder = written('app.js', app);
    written('metro.js', metro);
    await run(folder, 'node metro.js');
    // Globals of a platform without `process` and modules of Node.
    const globals = { fetch, Headers, Request, Response, URL, URLSearchParams, AbortController, AbortSignal };
    const context = createContext({
      ...globals,
      TextEncoder,
      TextDecoder,
      crypto,
      performance,
      setTimeout,
      clearTimeout,
    });
    const bundle = readFileSync(join(folder, 'app.bundle.js'), 'utf8');
    runInContext(`var global = globalThis;\n${bundle}`, context);
    expect(context.loaded).toEqual(['function', 'function', 'function']);
    expect(await context.who(key, origin)).toMatchObject({ mode: 'test' });
  },
  180_000,
);

const program = `
import { OstiaryError, OstiaryPartner } from '@ostiary/client-sdk';
import { CallbackError } from '@ostiary/client-sdk/oauth';
import { exportReconciliation } from '@ostiary/client-sdk/reconciliation';
import { signWebhook } from '@ostiary/webhook-verifier';
import { memoryDedupe } from '@ostiary/webhook-verifier/dedupe';
import { webhook } from '@ostiary/webhook-verifier/express';

export function pay(ostiary: OstiaryPartner) {
  return ostiary.payments.create({ amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } });
}
export const signed: ReturnType<typeof signWebhook> | null = null;
webhook({ secret: 'sixteen characters', dedupe: memoryDedupe() }, ({ event }) => console.log(event.type));
console.log(JSON.stringify([CallbackError.prototype instanceof OstiaryError, typeof exportReconciliation]));`;

it.runIf(isEvery)(
  'TypeScript 4.7 compiles a CommonJS back end, with every declaration checked',
  async () => {
    const folder = written('program.cts', program);
    for (const mode of ['--module commonjs --moduleResolution node', '--module node16']) {
      const flags = `${mode} --target es2020 --lib es2022,dom --strict --skipLibCheck false --types node`;
      expect(await run(folder, `npx tsc ${flags} --outDir out program.cts`), mode).toBe('');
      expect(JSON.parse(await run(folder, 'node out/program.cjs'))).toEqual([true, 'function']);
    }
  },
  180_000,
);
