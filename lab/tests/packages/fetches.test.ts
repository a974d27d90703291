import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { JSDOM } from 'jsdom';
import nodeFetch3 from 'node-fetch';
import untypedFetch2 from 'node-fetch-2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answer,
  type Fault,
  fakeKey,
  faulty,
  refusal,
} from '../../../packages/client-sdk/test/support/faulty.ts';
import { partnerProvider, payment, testPayment } from '../../../packages/core/test/support/partner-api.ts';
import { freePort } from '../../support/free-port.ts';
import { type PartnerFolder, partnerFolder } from '../../support/packages/installed.ts';

/**
 * node-fetch 2 with the type of node-fetch 3, because the types of node-fetch 2 do not match
 * `exactOptionalPropertyTypes`.
 */
const nodeFetch2 = untypedFetch2 as unknown as typeof nodeFetch3;

/** Entry points of the packed SDK. */
interface Sdk {
  readonly main: typeof import('@ostiary/client-sdk');
  readonly oauth: typeof import('@ostiary/client-sdk/oauth');
  readonly reconciliation: typeof import('@ostiary/client-sdk/reconciliation');
}

/** A platform (a kind of `fetch`), with the options that a partner must pass to the SDK there. */
interface Platform {
  readonly sdk: Sdk;
  readonly options: { readonly fetch?: typeof nodeFetch3 };
  close(): void;
}

let installed: PartnerFolder;
beforeAll(async () => {
  installed = await partnerFolder(['client-sdk']);
}, 120_000);
afterAll(() => installed.remove());

/** Returns the error with which an SDK call fails, even if the error belongs to another JavaScript realm. */
const thrownBy = (call: PromiseLike<unknown>): PromiseLike<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

const started = { 'content-type': 'application/json', 'x-request-id': 'req-1' };

const page: Fault = (response) => void response.writeHead(201, started).end('<html>Thank you</html>');

/** Sends a response of 65 MiB, unless the client disconnects. */
const long: Fault = (response) => {
  response.writeHead(201, started);
  const part = Buffer.alloc(1024 * 1024, 97);
  pipeline(Readable.from(Array<Buffer>(65).fill(part)), response, () => {});
};

const half: Fault = (response) => {
  response.writeHead(201, started);
  response.write('{"id":', () => setTimeout(() => response.destroy(), 50));
};

async function inNode(fetch: typeof nodeFetch3): Promise<Platform> {
  const dist = join(installed.folder, 'node_modules/@ostiary/client-sdk/dist/node');
  const [main, oauth, reconciliation] = await Promise.all(
    ['index.js', 'oauth.js', 'reconciliation.js'].map((file) => import(pathToFileURL(join(dist, file)).href)),
  );
  return { sdk: { main, oauth, reconciliation }, options: { fetch }, close() {} };
}

/**
 * Bundles code that imports the package for a platform without modules of Node, as a partner's bundler does.
 */
async function bundle(contents: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: installed.folder },
    nodePaths: [join(import.meta.dirname, '../../node_modules')],
    bundle: true,
    write: false,
    target: 'es2022',
    ...options,
  });
  return outputFiles?.[0]?.text ?? '';
}

const everyEntry = `
  import * as main from '@ostiary/client-sdk';
  import * as oauth from '@ostiary/client-sdk/oauth';
  import * as reconciliation from '@ostiary/client-sdk/reconciliation';
`;

/**
 * Opens a window of jsdom whose only fetch is whatwg-fetch over XMLHttpRequest, as in React Native. The
 * window lacks response streams, TextDecoder and `throwIfAborted`, as React Native does.
 */
async function inWindow(url: string): Promise<Platform> {
  const { window } = new JSDOM('', { url, runScripts: 'outside-only' });
  expect(window.fetch).toBeUndefined();
  window.eval('delete globalThis.TextDecoder; delete AbortSignal.prototype.throwIfAborted;');
  const code = `import 'whatwg-fetch'; ${everyEntry} globalThis.sdk = { main, oauth, reconciliation };`;
  window.eval(await bundle(code, { platform: 'browser', format: 'iife' }));
  return { sdk: window.sdk, options: {}, close: () => window.close() };
}

const platforms: readonly (readonly [string, (origin: string) => Promise<Platform>])[] = [
  ['node-fetch 2', () => inNode(nodeFetch2)],
  ['node-fetch 3', () => inNode(nodeFetch3)],
  ['whatwg-fetch', inWindow],
];

describe.each(platforms)('the SDK with %s', (_name, start) => {
  /** Makes an API client of the package on this platform. */
  async function client(origin: string, apiKey: string) {
    const { sdk, options, close } = await start(origin);
    const ostiary = new sdk.main.OstiaryPartner({
      ...{ apiKey, baseUrl: origin, dangerouslyAllowBrowser: true, sleep: async () => {} },
      ...options,
    });
    return { sdk, options, close, ostiary };
  }

  it('reads a payment at the first attempt, and errors, lists and events', async () => {
    const { provider, rail } = await partnerProvider();
    const { key } = await provider.key({ mode: 'live' });
    const { ostiary, close } = await client(provider.origin, key);
    const { data, response } = await ostiary.payments.create(payment).withResponse();
    expect([response.status, response.attempts]).toEqual([201, 1]);
    expect(response.requestId).toMatch(/./);
    await provider.ostiary.worker.runDue();
    expect(rail.orders.map(({ id }) => id)).toEqual([data.id]);
    expect((await ostiary.payments.retrieve(data.id)).status).toBe('completed');
    expect((await ostiary.payments.list().page()).data).toHaveLength(1);
    const refused = ostiary.payments.create({ ...payment, recipient: { kid: 'KID-NOBODY' } });
    expect(await thrownBy(refused)).toMatchObject({
      name: 'NotFoundError',
      outcome: 'not_executed',
      attempts: 1,
    });
    close();
  });

  it('exchanges a code with one request', async () => {
    const { provider } = await partnerProvider();
    const app = await provider.client();
    const { code, verifier } = await provider.boundCode(app);
    const { sdk, options, close } = await start(provider.origin);
    const oauth = new sdk.oauth.OstiaryOAuth({
      ...{ authUrl: provider.origin, clientId: app.id, clientSecret: app.secret ?? '' },
      ...{ redirectUri: app.redirectUri, dangerouslyAllowBrowser: true },
      ...options,
    });
    const { data, response } = await oauth.exchange({ code, codeVerifier: verifier }).withResponse();
    expect([response.attempts, data.tokenType]).toEqual([1, 'Bearer']);
    expect((await oauth.userinfo<'openid'>(data.accessToken)).kid).toBe('KID-ANA');
    close();
  });

  it.each<readonly [string, Fault, object, number]>([
    ['a 201 that is no JSON', page, { name: 'ProtocolError', outcome: 'executed', attempts: 1 }, 1],
    ['a 201 that is too long', long, { name: 'ProtocolError', outcome: 'executed', attempts: 1 }, 1],
    ['a refusal', refusal(403, 'insufficient_scope'), { name: 'PermissionError', attempts: 1 }, 1],
    ['half a body', half, { name: 'ConnectionError', attempts: 2 }, 2],
  ])('says what came: %s', async (_what, fault, expected, requests) => {
    const server = await faulty([fault, fault]);
    const { ostiary, close } = await client(server.origin, fakeKey);
    expect(await thrownBy(ostiary.payments.create(testPayment, { maxRetries: 1 }))).toMatchObject(expected);
    expect(server.seen).toHaveLength(requests);
    close();
  });

  it('reports a connection that is refused', async () => {
    const { ostiary, close } = await client(`http://127.0.0.1:${await freePort()}`, fakeKey);
    expect(await thrownBy(ostiary.whoami({ maxRetries: 1 }))).toMatchObject({
      name: 'ConnectionError',
      attempts: 2,
    });
    close();
  });
});

describe.each([
  ['node-fetch 2', nodeFetch2],
  ['node-fetch 3', nodeFetch3],
] as const)('the SDK with the streams of %s', (_name, fetch) => {
  it('does not follow a redirect, and says so', async () => {
    const { seen, origin } = await faulty([answer(307, {}, { location: 'https://other.example/' })]);
    const { sdk } = await inNode(fetch);
    const ostiary = new sdk.main.OstiaryPartner({ apiKey: fakeKey, baseUrl: origin, fetch });
    expect(await thrownBy(ostiary.payments.create(testPayment))).toMatchObject({
      name: 'ProtocolError',
      code: 'redirect',
      attempts: 1,
    });
    expect(seen).toHaveLength(1);
  });

  it('exports row by row, and into a file', async () => {
    const { provider } = await partnerProvider();
    const { key } = await provider.key({ mode: 'test' });
    const { sdk } = await inNode(fetch);
    const ostiary = new sdk.main.OstiaryPartner({ apiKey: key, baseUrl: provider.origin, fetch });
    const { id } = await ostiary.payments.create(testPayment);
    for (let status = 'pending'; status === 'pending'; { status } = await ostiary.payments.retrieve(id))
      await provider.ostiary.worker.runDue();
    const date = new Date(provider.clock.now()).toISOString().slice(0, 10);
    const ids: string[] = [];
    for await (const row of sdk.reconciliation.exportReconciliation(ostiary, { date })) ids.push(row.id);
    expect(ids).toEqual([id]);
    const file = join(installed.folder, 'export.csv');
    const saved = sdk.reconciliation.exportReconciliation(ostiary, { date });
    expect((await saved.saveTo(file, { format: 'csv' })).rows).toBe(1);
  });
});

it('says that a fetch has read the body itself, after one request', async () => {
  const { seen, origin } = await faulty([answer(201, { id: 'tr_1' })]);
  const { sdk } = await inNode(nodeFetch3);
  const logging = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    await response.json();
    return response;
  };
  const ostiary = new sdk.main.OstiaryPartner({ apiKey: fakeKey, baseUrl: origin, fetch: logging });
  const error = await thrownBy(ostiary.payments.create(testPayment));
  expect(error).toMatchObject({ name: 'ProtocolError', outcome: 'executed', attempts: 1 });
  expect(String(error)).toContain('response.clone()');
  expect(seen).toHaveLength(1);
});

it('refuses a client secret in jsdom, unless the danger is accepted', async () => {
  const { sdk, close } = await inWindow('https://app.example/');
  const options = {
    ...{ authUrl: 'https://id.example', clientId: 'app', clientSecret: 'secret' },
    redirectUri: 'https://app.example/callback',
  };
  expect(() => new sdk.oauth.OstiaryOAuth(options)).toThrow('dangerouslyAllowBrowser');
  expect(new sdk.oauth.OstiaryOAuth({ ...options, dangerouslyAllowBrowser: true })).toBeTypeOf('object');
  close();
});

it.each(['neutral', 'browser'] as const)(
  'has no import() in a bundle for the platform %s, which Miniflare refuses',
  async (platform) => {
    const code = `${everyEntry} export { main, oauth, reconciliation };`;
    const bundled = await bundle(code, { platform, format: 'esm', minify: true, conditions: ['workerd'] });
    expect(bundled.match(/\bimport\s*\(|\brequire\s*\(|from\s*"node:/)).toBeNull();
  },
);
