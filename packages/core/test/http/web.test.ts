import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, vi } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';
import { startProvider } from '../support/running.ts';

const { provider } = await partnerProvider();
const web = (url: string, init: RequestInit = {}, options = {}) =>
  provider.ostiary.fetch(new Request(url, init), options);

/** Fields that differ between any two answers, and those of the connection. */
const fleeting = ['connection', 'date', 'keep-alive', 'transfer-encoding', 'x-request-id'];

/** Ids and proofs are made anew for every answer. */
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
    // The limit counts both.
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
    // As the middleware of Hono has it.
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
