import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { TestProvider } from '../support/provider.ts';
import { serve, startProvider } from '../support/running.ts';

/**
 * Starts a server whose framework changes the request before Ostiary's handler gets it. Returns its origin.
 */
const framework = (
  { ostiary }: TestProvider,
  change: (request: IncomingMessage) => object | Promise<object>,
): Promise<string> =>
  serve(async (request, response) =>
    ostiary.handler(Object.assign(request, await change(request)), response),
  );

/** Starts a server that removes a prefix of the request's path, as Express does. */
const below = (provider: TestProvider, prefix: RegExp) =>
  framework(provider, ({ url = '' }) => ({ originalUrl: url, url: url.replace(prefix, '') }));

/** Sends a POST request with a JSON body. */
const post = (url: string, body: string) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

it('addresses with a path prefix are found also when one begins with the other, or a proxy has taken it off, and not where paths begin alike', async () => {
  const provider = await startProvider({
    authUrl: 'https://id.example/id',
    baseUrl: 'https://id.example/id/api',
  });
  for (const [path, status] of [
    ['/id/.well-known/jwks.json', 200],
    ['/id/api/v1/oauth/userinfo', 401],
    ['/.well-known/jwks.json', 200],
    ['/identity/.well-known/jwks.json', 404],
  ] as const)
    expect([path, (await provider.request(path)).status]).toEqual([path, status]);
});

describe('the handler in a framework that mounts it', () => {
  it('takes the path from originalUrl, as Express leaves it', async () => {
    const provider = await startProvider({ authUrl: 'https://id.example/auth' });
    const origin = await below(provider, /^\/auth/i);
    expect((await fetch(`${origin}/auth/v1/oauth/userinfo`)).status).toBe(401);
    // Express accepts the path too.
    expect((await fetch(`${origin}/AUTH/.well-known/jwks.json`)).status).toBe(200);
    expect(provider.logged).toEqual([]);
  });

  it('takes the path from url, where originalUrl has a prefix that the options do not know', async () => {
    const provider = await startProvider();
    const origin = await below(provider, /^\/mount/);
    for (const path of ['/mount/.well-known/jwks.json', '/mount/.well-known/openid-configuration']) {
      expect((await fetch(`${origin}${path}`)).status).toBe(200);
    }
  });

  it('leaves its request object as it was', async () => {
    const provider = await startProvider();
    let after: IncomingMessage | undefined;
    const origin = await serve((request, response) => {
      after = request;
      provider.ostiary.handler(request, response);
    });
    const target = provider.authorizeUrl(await provider.client()).slice(provider.site.length);
    await (await fetch(origin + target, { redirect: 'manual' })).text();
    expect(after).toMatchObject({ url: target, method: 'GET' });
    expect(after).not.toHaveProperty('originalUrl');
  });

  it('reads the bytes that a parser of the host has kept, as strictly as if they had come from the network', async () => {
    const provider = await startProvider();
    const origin = await framework(provider, async (request) => ({
      rawBody: Buffer.from(await text(request)),
      body: { token: 'what a parser made of it' },
    }));
    for (const [body, status] of [
      ['{"token":"a"}', 200],
      ['{"token":"a","token":"b"}', 400],
      [`{"token":"${'a'.repeat(64 * 1024)}"}`, 413],
    ] as const)
      expect((await post(`${origin}/v1/oauth/revoke`, body)).status).toBe(status);
  });

  it('ignores rawBody if the body was not read yet, or if it is not bytes', async () => {
    const provider = await startProvider();
    for (const [change, status] of [
      [() => ({ rawBody: Buffer.from('{}') }), 200],
      [async (request: IncomingMessage) => ({ rawBody: await text(request) }), 400],
    ] as const) {
      const origin = await framework(provider, change);
      expect((await post(`${origin}/v1/oauth/revoke`, '{"token":"a"}')).status).toBe(status);
    }
  });

  it('accepts an authorization request that a parser of the host has read', async () => {
    const provider = await startProvider();
    const client = await provider.client();
    const query = new URL(provider.authorizeUrl(client, { state: 'a & b = \u00e9' })).searchParams;
    const origin = await framework(provider, async (request) => ({
      body: Object.fromEntries(new URLSearchParams(await text(request))),
    }));
    const url = `${origin}/oauth/authorize`;
    const answer = await fetch(url, { method: 'POST', body: query, redirect: 'manual' });
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers.get('location') ?? '');
    expect(Object.fromEntries(location.searchParams)).toEqual(Object.fromEntries(query));
  });
});

describe('paths of others', () => {
  it('go to next, with the response untouched', async () => {
    const provider = await startProvider();
    const seen: object[] = [];
    const origin = await serve((request, response) => {
      provider.ostiary.handler(request, response, () => {
        seen.push({ ...response.getHeaders(), sent: response.headersSent });
        response.end('the host');
      });
    });
    const paths = ['/', '/shop', '/oauth', '/oauth/authorize/', '/OAUTH/authorize', '/v1/oauth/tokens'];
    for (const path of [...paths, '/account', '/v1/partner/payments'])
      expect(await (await fetch(origin + path)).text(), path).toBe('the host');
    expect(seen).toEqual(Array(8).fill({ sent: false }));
    // Ostiary's own paths are not passed to the host, for any method.
    expect((await fetch(`${origin}/v1/oauth/token`)).status).toBe(405);
    expect((await fetch(`${origin}/oauth/authorize`, { method: 'DELETE' })).status).toBe(405);
  });

  it('get 404 where there is no next: JSON for programs, a page for browsers, always JSON below /v1/', async () => {
    const provider = await startProvider();
    const of = async (path: string, accept = 'text/html') => {
      const { outcome, headers } = await provider.request(path, { headers: { accept } });
      return [path, outcome, headers.get('content-type')?.split(';')[0]];
    };
    const partner = ['/v1/partner', '/v1/Partner/x', '/V1//partner/x', '/v1%2fpartner/x'];
    const api = ['/v1', '/v1/', '/V1/nowhere', '/v1/nowhere', '/v1//x', '/%761/nowhere', ...partner];
    for (const path of api) expect(await of(path)).toEqual([path, '404 not_found', 'application/json']);
    for (const path of ['/nowhere', '/v10/nowhere'])
      expect(await of(path)).toEqual([path, '404 not_found', 'text/html']);
    expect(await of('/nowhere', '*/*')).toEqual(['/nowhere', '404 not_found', 'application/json']);
    for (const path of partner) expect((await provider.request(path)).json()).toHaveProperty('code');
  });
});

it.each([
  ['/v1/oauth/token', 'GET', 'POST'],
  ['/v1/oauth/revoke', 'DELETE', 'POST'],
  ['/v1/oauth/userinfo', 'PUT', 'GET, HEAD, POST'],
  ['/oauth/authorize', 'PATCH', 'GET, HEAD, POST'],
  ['/oauth/authorize', 'OPTIONS', 'GET, HEAD, POST'],
  ['/.well-known/openid-configuration', 'POST', 'GET, HEAD'],
  ['/account/apps', 'POST', 'GET, HEAD'],
])('%s says to %s what it takes', async (path, method, allowed) => {
  const { outcome, headers } = await (await startProvider()).request(path, { method });
  expect(outcome).toBe(method === 'OPTIONS' ? '204 ok' : '405 invalid_request');
  for (const name of allowed.split(', ')) expect(headers.get('allow')?.split(', ')).toContain(name);
});
