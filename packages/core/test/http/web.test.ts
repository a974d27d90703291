import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { manyPages, settled } from '../payments/books.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { startProvider } from '../support/running.ts';

const { provider } = await partnerProvider();
const web = (url: string, init: RequestInit = {}, options = {}) =>
  provider.ostiary.fetch(new Request(url, init), options);

/** Names of headers that differ between any two responses, and of those that belong to the connection. */
const fleeting = ['connection', 'date', 'keep-alive', 'transfer-encoding', 'x-request-id'];

/**
 * Removes request ids and CSRF tokens from a page, and masks interaction ids, because they are new in every
 * response.
 */
const masked = (text: string): string =>
  text
    .replaceAll(/"requestId":"[^"]+"|name="csrf" value="[^"]+"/g, '')
    .replaceAll(/oauth\/interaction\/[\w-]+/g, 'oauth/interaction/…');

async function shown(response: Response) {
  const headers = [...response.headers]
    .filter(([name]) => !fleeting.includes(name))
    .map(([name, value]) => [name, name === 'set-cookie' ? value.split('=')[0] : masked(value)]);
  return { status: response.status, headers, text: masked(await response.text()) };
}

describe('a Request is answered like the same request over HTTP:', async () => {
  const client = await provider.client();
  const { key } = await provider.key();
  const token = await provider.token(client);
  const authorize = provider.authorizeUrl(client).slice(provider.site.length);
  const json = { 'content-type': 'application/json' };
  const withKey = { 'x-api-key': key };
  const post = (body: BodyInit | null, headers = {}) => ({ method: 'POST', headers, body });
  const page = { headers: { accept: 'text/html' } };
  const tooLong = { ...json, ...withKey, 'content-length': '70000' };
  const twoKeys = [key, 'b'].map((value): [string, string] => ['x-api-key', value]);
  const payments = '/v1/partner/payments';
  const requests: Readonly<Record<string, readonly [path: string, init?: RequestInit]>> = {
    discovery: ['/.well-known/openid-configuration'],
    HEAD: ['/.well-known/jwks.json', { method: 'HEAD' }],
    'an unknown path': ['/nowhere?a=b'],
    'an unknown path below the API': ['/v1/nowhere'],
    'a path with a host in it': ['/http://evil.example/v1/oauth/userinfo'],
    'a wrong method': ['/v1/oauth/token', { method: 'DELETE' }],
    'a preflight': ['/v1/oauth/token', { method: 'OPTIONS', headers: { origin: 'https://app.example' } }],
    userinfo: ['/v1/oauth/userinfo', { headers: { authorization: `Bearer ${token}` } }],
    'an exchange as JSON': ['/v1/oauth/token', post(`{"grant_type":"x","client_id":"${client.id}"}`, json)],
    'an exchange as a form': ['/v1/oauth/token', post(new URLSearchParams({ grant_type: 'x' }))],
    'no body': ['/v1/oauth/token', post(null, json)],
    'a list': [`${payments}?limit=2`, { headers: withKey }],
    'two keys': ['/v1/partner/whoami', { headers: twoKeys }],
    'broken JSON': [payments, post('{', { ...json, ...withKey })],
    'a body that is too long': [payments, post('a'.repeat(70_000), tooLong)],
    'an export': ['/v1/partner/reconciliation?date=2024-01-01&format=csv', { headers: withKey }],
    'an authorization request': [authorize, page],
    'a page': ['/account/apps', page],
  };

  it.each(Object.entries(requests))('%s', async (_name, [path, init]) => {
    const options = { redirect: 'manual', ...init } as const;
    const overHttp = await shown(await fetch(provider.origin + path, options));
    const inMemory = await shown(await web(provider.origin + path, options, { address: '127.0.0.1' }));
    // The limit counts both requests.
    const counted = ({ headers }: typeof inMemory) =>
      headers.filter(([name]) => name !== 'x-ratelimit-remaining');
    expect({ ...inMemory, headers: counted(inMemory) }).toEqual({ ...overHttp, headers: counted(overHttp) });
  });

  it.each([
    ['a body', '{"token":"unknown"}', 200],
    ['none', null, 400],
  ])('with %s, whatever it says of the connection that it came over', async (_name, body, status) => {
    const length = { 'content-length': '19', 'transfer-encoding': 'chunked', te: 'trailers' };
    const upgrade = { connection: 'keep-alive, upgrade', upgrade: 'websocket', expect: '100-continue' };
    const init = post(body, { ...json, ...length, ...upgrade });
    const answer = await web(`${provider.site}/v1/oauth/revoke`, init);
    expect(answer.status).toBe(status);
    expect([...answer.headers.keys()].join()).not.toMatch(/connection|keep-alive|transfer-encoding/);
  });
});

describe('the host of a Request', () => {
  it('answers what is not Ostiary’s, with the body untouched, and nothing else', async () => {
    const { fetch } = provider.ostiary;
    const request = new Request('https://shop.example/orders', { method: 'POST', body: 'an order' });
    const next = vi.fn(() => new Response('of the host'));
    expect(await (await fetch(request, { next })).text()).toBe('of the host');
    expect(await request.text()).toBe('an order');
    expect((await web('https://x.example/v1/oauth/token', {}, { next })).status).toBe(405);
    expect(next).toHaveBeenCalledTimes(1);
    // `next` is passed as Hono's middleware does.
    expect(await web('https://shop.example/', {}, { next: async () => undefined })).toBeUndefined();
    const failing = { next: () => Promise.reject(new RangeError('of the host')) };
    await expect(web('https://shop.example/', {}, failing)).rejects.toThrow(RangeError);
  });

  it('may pass what its framework passes as a second argument', async () => {
    const get = provider.ostiary.fetch as (request: Request, context: object) => Promise<Response>;
    const foreign = { params: Promise.resolve({}), address: { address: '127.0.0.1', family: 'IPv4' } };
    expect((await get(new Request('https://x.example/v1/oauth/userinfo'), foreign)).status).toBe(401);
  });

  it('finds its own asynchronous context in its callbacks', async () => {
    const scope = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const authenticate = () => {
      seen.push(scope.getStore());
      return null;
    };
    const provider = await startProvider({ login: { authenticate, loginUrl: () => '/login' } });
    const apps = () => provider.ostiary.fetch(new Request(`${provider.site}/account/apps`));
    await Promise.all(['one', 'two', 'three'].map((name) => scope.run(name, apps)));
    expect(seen.toSorted()).toEqual(['one', 'three', 'two']);
  });
});

describe('the client address of a Request', () => {
  async function allowed(trustedProxies: readonly string[] = []) {
    const { provider } = await partnerProvider({ trustedProxies });
    const key = await provider.key({ allowlist: ['127.0.0.0/8', '198.51.100.0/24'] });
    return async (address: unknown, forwardedFor?: string): Promise<number> => {
      const headers = new Headers({ 'x-api-key': key.key });
      if (forwardedFor !== undefined) headers.set('x-forwarded-for', forwardedFor);
      const request = new Request('http://127.0.0.1/v1/partner/whoami', { headers });
      const options = address === undefined ? {} : { address: address as string };
      return (await provider.ostiary.fetch(request, options)).status;
    };
  }

  it('is what the host says', async () => {
    const call = await allowed();
    expect(await call('198.51.100.7')).toBe(200);
    expect(await call('::ffff:198.51.100.7')).toBe(200);
    expect(await call('203.0.113.9')).toBe(403);
  });

  it.each([[undefined], [null], [''], ['unknown'], [{ address: '127.0.0.1' }], [['127.0.0.1']]])(
    'is unknown, which no allowlist allows, when the host says %j',
    async (address) => {
      const call = await allowed(['127.0.0.1', '10.0.0.0/8']);
      expect(await call(address)).toBe(403);
      expect(await call(address, '198.51.100.7')).toBe(403);
    },
  );
});

it('a body that was read before is refused with a TypeError', async () => {
  const request = new Request('https://x.example/v1/oauth/token', { method: 'POST', body: '{}' });
  await request.text();
  await expect(provider.ostiary.fetch(request)).rejects.toThrow(
    new TypeError('the body of the request was read before it came here'),
  );
  expect((await web('https://x.example/v1/partner/whoami')).status).toBe(401);
});

const site = 'https://api.example';

const exportOf = (key: string, init: RequestInit = {}) =>
  new Request(`${site}/v1/partner/reconciliation?date=2024-01-01&format=ndjson`, {
    ...init,
    headers: { 'x-api-key': key },
  });

// Fetch requires this option for a stream as body, but the types lack it.
const half = { duplex: 'half' } as RequestInit;
const post = (key: string, body: BodyInit, init: RequestInit = {}) =>
  new Request(`${site}/v1/partner/payments`, {
    method: 'POST',
    body,
    ...half,
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...init.headers },
  });

describe('an export that a Request asks for', () => {
  it('is made no faster than it is read, and ends with its reader', async () => {
    const { provider, key, pages } = await manyPages();
    const response = await provider.ostiary.fetch(exportOf(key));
    const reader = response.body?.getReader();
    await reader?.read();
    const unread = await settled(() => pages.asked);
    expect(unread).toBeLessThan(10);
    for (let chunk = 0; chunk < 50; chunk += 1) await reader?.read();
    const read = await settled(() => pages.asked);
    expect(read).toBeGreaterThan(unread);
    expect(read).toBeLessThan(unread + 60);
    await reader?.cancel();
    expect(await settled(() => pages.asked)).toBeLessThan(read + 20);
    expect(provider.errors).toEqual([]);
  });

  it('ends when the request is aborted, with the reason', async () => {
    const { provider, key, pages } = await manyPages();
    const control = new AbortController();
    const response = await provider.ostiary.fetch(exportOf(key, { signal: control.signal }));
    const reader = response.body?.getReader();
    await reader?.read();
    const reason = new RangeError('enough');
    control.abort(reason);
    const rest = async () => {
      for (;;) if ((await reader?.read())?.done !== false) return 'the end';
    };
    await expect(rest()).rejects.toBe(reason);
    expect(await settled(() => pages.asked)).toBeLessThan(20);
  });

  it('fails to be read when it breaks off', async () => {
    const { provider, key, pages } = await manyPages();
    pages.breakAfter = 3;
    const response = await provider.ostiary.fetch(exportOf(key));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(provider.logged.map(({ message }) => message)).toContain('a response broke off');
  });
});

const { key } = await provider.key();

describe('the body of a Request', () => {
  it('is taken no further than its limit, and not at all without a key', async () => {
    for (const [by, status] of [
      [key, 413],
      ['svc_live_none', 401],
    ] as const) {
      // Stream without an end.
      const pull = vi.fn((to: ReadableStreamDefaultController) =>
        to.enqueue(new Uint8Array(16_384).fill(0x20)),
      );
      const cancel = vi.fn();
      const { ostiary } = provider;
      expect((await ostiary.fetch(post(by, new ReadableStream({ pull, cancel })))).status).toBe(status);
      await vi.waitFor(() => expect(cancel).toHaveBeenCalled(), patient);
      expect(pull.mock.calls.length).toBeLessThan(120);
    }
  });

  it('may come slowly', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const answer = provider.ostiary.fetch(post(key, readable));
    const writer = writable.getWriter();
    // Send single bytes, so that characters are split.
    for (const byte of new TextEncoder().encode(JSON.stringify({ ...payment, description: 'Fête du é' }))) {
      await writer.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writer.close();
    expect(await (await answer).json()).toMatchObject({ description: 'Fête du é' });
  });

  it('is not waited for any more when the request is aborted, and executes nothing', async () => {
    const { key } = await provider.key();
    const control = new AbortController();
    const { signal } = control;
    const cancel = vi.fn();
    const start = (to: ReadableStreamDefaultController) => to.enqueue(new TextEncoder().encode('{"amount":'));
    const answer = provider.ostiary.fetch(post(key, new ReadableStream({ start, cancel }), { signal }));
    setImmediate(() => control.abort());
    const isAborted = expect.objectContaining({ name: 'AbortError' });
    await expect(answer).rejects.toThrow(isAborted);
    await vi.waitFor(() => expect(cancel).toHaveBeenCalled(), patient);
    await expect(provider.ostiary.fetch(post(key, '{}', { signal }))).rejects.toThrow(isAborted);
    const list = await provider.partnerCall(key, 'GET /v1/partner/payments');
    expect(list.json()).toMatchObject({ data: [] });
  });

  it('that breaks off makes the call fail with its error', async () => {
    const error = new RangeError('the disk is gone');
    const body = new ReadableStream({ pull: (controller) => controller.error(error) });
    await expect(provider.ostiary.fetch(post(key, body))).rejects.toBe(error);
  });

  it.each([
    ['longer', 2],
    ['shorter', 5_000],
  ])('that is %s than announced reaches nobody as another request', async (_name, length) => {
    const hidden = `GET /v1/partner/whoami HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\nx-forwarded-for: 127.0.0.1\r\n\r\n`;
    const request = post(key, `{}${hidden}`, { headers: { 'content-length': String(length) } });
    await expect(provider.ostiary.fetch(request)).rejects.toThrow('Content-Length');
  });

  it.each([
    ['DELETE', 400, 'takes no body'],
    ['OPTIONS', 204, ''],
    ['PATCH', 400, 'JSON'],
  ])('of a %s whose length is not announced hides no other request', async (method, status, message) => {
    const hidden = `GET /v1/partner/whoami HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\n\r\n`;
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const init = { method, headers, body: new Blob([hidden]).stream(), duplex: 'half' };
    const url = `${provider.origin}/v1/partner/webhooks/we_${'0'.repeat(32)}`;
    const answer = await provider.ostiary.fetch(new Request(url, init as RequestInit));
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(message)]);
  });
});

it('many simultaneous Requests get separate responses', async () => {
  const { signal } = new AbortController();
  const ask = async (_: unknown, index: number) => {
    const body = JSON.stringify({ ...payment, amount: `${index + 1}.00` });
    return (await provider.ostiary.fetch(post(key, body, { signal }))).json();
  };
  const answers = await Promise.all(Array.from({ length: 200 }, ask));
  expect(answers).toMatchObject(answers.map((_, index) => ({ amount: `${index + 1}.00` })));
});
