import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { TestProvider } from '../support/provider.ts';

const open: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  for (const resource of open.splice(0)) await resource.stop();
});

async function start(options: Partial<OstiaryOptions>): Promise<TestProvider> {
  const provider = await TestProvider.start(options);
  open.push(provider);
  return provider;
}

async function serve(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('addresses with a path prefix', () => {
  it('run the whole flow below it, cookies included', async () => {
    const provider = await start({ authUrl: 'https://id.example/auth' });
    const client = await provider.client();
    const browser = provider.browser();
    const first = await browser.get(provider.authorizeUrl(client));
    expect(first.location).toMatch(/^https:\/\/id\.example\/auth\/oauth\/interaction\//);
    for (const cookie of first.headers.getSetCookie()) expect(cookie).toMatch(/path=\/auth\/oauth\//i);
    expect(await provider.code(client, {}, browser)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('are found when one prefix begins with the other', async () => {
    const provider = await start({ authUrl: 'https://id.example/id', baseUrl: 'https://id.example/id/api' });
    expect((await provider.request('/id/.well-known/jwks.json')).status).toBe(200);
    expect((await provider.request('/id/api/v1/oauth/userinfo')).status).toBe(401);
  });

  it('are found without it, when a proxy has taken it off', async () => {
    const provider = await start({ authUrl: 'https://id.example/auth' });
    expect((await provider.request('/.well-known/jwks.json')).status).toBe(200);
  });

  it('do not reach into paths that merely begin alike', async () => {
    const provider = await start({ authUrl: 'https://id.example/auth' });
    expect((await provider.request('/authority/.well-known/jwks.json')).status).toBe(404);
  });
});

describe('the handler in a framework that mounts it', () => {
  it('takes the path from originalUrl, as Express leaves it', async () => {
    const provider = await start({ authUrl: 'https://id.example/auth' });
    const origin = await serve((request, response) => {
      const mounted = Object.assign(request, {
        originalUrl: request.url ?? '',
        url: (request.url ?? '').replace(/^\/auth/i, ''),
      });
      provider.ostiary.handler(mounted, response);
    });
    const client = await provider.client();
    const { search } = new URL(provider.authorizeUrl(client));
    const answer = await fetch(`${origin}/auth/oauth/authorize${search}`, { redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^https:\/\/id\.example\/auth\/oauth\/interaction\//);
    expect((await fetch(`${origin}/auth/v1/oauth/userinfo`)).status).toBe(401);
    // Express finds it so too.
    expect((await fetch(`${origin}/AUTH/.well-known/jwks.json`)).status).toBe(200);
    expect(provider.logged).toEqual([]);
  });

  it('takes the path from url, where originalUrl has a prefix that the options do not know', async () => {
    const provider = await start({});
    const origin = await serve((request, response) => {
      const mounted = Object.assign(request, {
        originalUrl: request.url ?? '',
        url: (request.url ?? '').replace(/^\/mount/, ''),
      });
      provider.ostiary.handler(mounted, response);
    });
    for (const path of ['/mount/.well-known/jwks.json', '/mount/.well-known/openid-configuration']) {
      expect((await fetch(`${origin}${path}`)).status).toBe(200);
    }
    // Once: it is no defect of a request.
    expect(provider.logged).toEqual([
      {
        level: 'warn',
        message: 'Ostiary is mounted under a path that neither authUrl nor baseUrl has',
        fields: {},
      },
    ]);
  });

  it('leaves its request object as it was', async () => {
    const provider = await start({});
    const client = await provider.client();
    let after = {};
    const origin = await serve((request, response) => {
      response.on('finish', () => {
        after = { url: request.url, method: request.method, originalUrl: 'originalUrl' in request };
      });
      provider.ostiary.handler(request, response);
    });
    const target = provider.authorizeUrl(client).slice(provider.site.length);
    await (await fetch(origin + target, { redirect: 'manual' })).text();
    expect(after).toEqual({ url: target, method: 'GET', originalUrl: false });
  });

  it('reads a body that a parser of the host has read already', async () => {
    const provider = await start({});
    const client = await provider.client();
    const code = await provider.code(client);
    const origin = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      Object.assign(request, { body: JSON.parse(Buffer.concat(chunks).toString()) });
      provider.ostiary.handler(request, response);
    });
    const body = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      client_id: client.id,
      client_secret: client.secret,
    };
    const answer = await fetch(`${origin}/v1/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  });

  it('reads the bytes that a parser of the host has kept, as strictly as if they had come from the network', async () => {
    const provider = await start({});
    const origin = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      Object.assign(request, { rawBody: Buffer.concat(chunks), body: { token: 'what a parser made of it' } });
      provider.ostiary.handler(request, response);
    });
    const revoke = async (body: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${origin}/v1/oauth/revoke`, { method: 'POST', headers, body })).status;
    };
    expect(await revoke('{"token":"a"}')).toBe(200);
    expect(await revoke('{"token":"a","token":"b"}')).toBe(400);
    expect(await revoke(`{"token":"${'a'.repeat(64 * 1024)}"}`)).toBe(413);
  });

  it('takes rawBody for nothing as long as nobody has read the body, or when it is no bytes', async () => {
    const provider = await start({});
    const body = JSON.stringify({ token: 'a' });
    const send = async (isRead: boolean): Promise<number> => {
      const origin = await serve(async (request, response) => {
        if (isRead) for await (const _ of request);
        Object.assign(request, { rawBody: isRead ? body : Buffer.from('{}') });
        provider.ostiary.handler(request, response);
      });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${origin}/v1/oauth/revoke`, { method: 'POST', headers, body })).status;
    };
    expect([await send(false), await send(true)]).toEqual([200, 400]);
  });

  it('goes on with an authorization request that a parser of the host has read', async () => {
    const provider = await start({});
    const client = await provider.client();
    const query = new URL(provider.authorizeUrl(client, { state: 'a & b = \u00e9' })).searchParams;
    const origin = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      provider.ostiary.handler(Object.assign(request, { body }), response);
    });
    const answer = await fetch(`${origin}/oauth/authorize`, {
      method: 'POST',
      body: query,
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers.get('location') ?? '');
    expect(Object.fromEntries(location.searchParams)).toEqual(Object.fromEntries(query));
  });

  it('says at once that a body is gone, when it was read and thrown away', async () => {
    const provider = await start({});
    const origin = await serve(async (request, response) => {
      for await (const _ of request);
      provider.ostiary.handler(request, response);
    });
    const answer = await fetch(`${origin}/v1/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringMatching(/read before/),
    });
  });
});

describe('paths of others', () => {
  it('go to next, with the response untouched', async () => {
    const provider = await start({});
    const seen: object[] = [];
    const origin = await serve((request, response) => {
      provider.ostiary.handler(request, response, () => {
        seen.push({ ...response.getHeaders(), sent: response.headersSent });
        response.end('the host');
      });
    });
    for (const path of [
      '/',
      '/shop',
      '/oauth',
      '/oauth/authorize/',
      '/OAUTH/authorize',
      '/v1/oauth/tokens',
      '/account',
      '/v1/partner/payments',
    ]) {
      expect(await (await fetch(origin + path)).text(), path).toBe('the host');
    }
    expect(seen).toHaveLength(8);
    for (const headers of seen) expect(headers).toEqual({ sent: false });
  });

  it('never take own paths from Ostiary, whatever the method', async () => {
    const provider = await start({});
    const origin = await serve((request, response) =>
      provider.ostiary.handler(request, response, () => response.end('the host')),
    );
    expect((await fetch(`${origin}/v1/oauth/token`)).status).toBe(405);
    expect((await fetch(`${origin}/oauth/authorize`, { method: 'DELETE' })).status).toBe(405);
  });

  it('get 404 where there is no next: JSON for programs, a page for browsers, always JSON below /v1/', async () => {
    const provider = await start({});
    const html = { accept: 'text/html' };
    const program = await provider.request('/nowhere');
    expect([program.status, program.json().error]).toEqual([404, 'not_found']);
    const page = await provider.request('/nowhere', { headers: html });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    for (const path of ['/v1', '/v1/', '/V1/nowhere', '/v1/nowhere', '/v1//x', '/%761/nowhere']) {
      const api = await provider.request(path, { headers: html });
      expect([path, api.status, api.json().error]).toEqual([path, 404, 'not_found']);
    }
    for (const path of ['/v1/partner', '/v1/Partner/x', '/V1//partner/x', '/v1%2fpartner/x']) {
      const api = await provider.request(path, { headers: html });
      expect([path, api.status, api.json().code]).toEqual([path, 404, 'not_found']);
    }
    const other = await provider.request('/v10/nowhere', { headers: html });
    expect([other.status, other.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  });
});

describe('methods', () => {
  it.each([
    ['/v1/oauth/token', 'GET', 'POST'],
    ['/v1/oauth/revoke', 'DELETE', 'POST'],
    ['/v1/oauth/userinfo', 'PUT', 'GET, HEAD, POST'],
    ['/oauth/authorize', 'PATCH', 'GET, HEAD, POST'],
    ['/.well-known/openid-configuration', 'POST', 'GET, HEAD'],
    ['/account/apps', 'POST', 'GET, HEAD'],
  ])('%s refuses %s with 405 and says what it takes', async (path, method, allowed) => {
    const provider = await start({});
    const answer = await provider.request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.json().error).toBe('invalid_request');
    for (const name of allowed.split(', ')) expect(answer.headers.get('allow')?.split(', ')).toContain(name);
  });

  it('answer OPTIONS of a page with what it takes', async () => {
    const provider = await start({});
    const answer = await provider.request('/oauth/authorize', { method: 'OPTIONS' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST']);
  });
});
