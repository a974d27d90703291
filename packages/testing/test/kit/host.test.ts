import type { IncomingMessage, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Authentication, Ostiary } from '@ostiary/core';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createTestOstiary, type HostTestOptions, type TestOstiaryOptions } from '../../src/index.ts';

const people = new Map([
  ['ana', { sub: 'u-1', name: 'Ana', password: 'secret', claims: { orders: ['A-1'] } }],
  ['ben', { sub: 'u-2', name: 'Ben', password: 'hidden', claims: { orders: [] } }],
]);

/** Creates a host application with its own login: a form, a session, and an API. */
function createHost() {
  const sessions = new Map<string, Authentication>();
  const sessionOf = (request: IncomingMessage) =>
    sessions.get(/session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '') ?? null;
  const rest = { kid: 'KID', role: 'member', country: 'HT', createdAt: '2026-01-01T00:00:00.000Z' };
  const users = {
    find: (sub: string) => {
      const found = [...people.values()].find((person) => person.sub === sub);
      return found === undefined
        ? null
        : { sub, ...rest, name: found.name, handle: found.name, avatarUrl: null, claims: found.claims };
    },
  };
  const login = {
    authenticate: sessionOf,
    loginUrl: (returnTo: string) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    signOut: (request: IncomingMessage) => {
      sessions.delete(/session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
    },
  };
  const listener =
    (ostiary: Ostiary): RequestListener =>
    (request, response) =>
      ostiary.handler(request, response, async () => {
        const url = new URL(request.url ?? '', 'https://id.ostiary.test');
        if (url.pathname === '/api/orders') {
          const token = (request.headers.authorization ?? '').replace('Bearer ', '');
          const check = await ostiary.tokens.verify(token, { scopes: ['orders'] });
          return void response.writeHead(check.active ? 200 : 403).end(JSON.stringify(check));
        }
        if (request.method === 'POST') {
          const form = new URLSearchParams(await text(request));
          const person = people.get(form.get('user') ?? '');
          if (person?.password !== form.get('password'))
            return void response.writeHead(401).end(page('wrong'));
          const id = crypto.randomUUID();
          sessions.set(id, { sub: person.sub, authenticatedAt: new Date(ostiary.now()) });
          response.setHeader('Set-Cookie', `session=${id}; HttpOnly; Path=/`);
          return void response.writeHead(303, { location: form.get('return_to') ?? '/' }).end();
        }
        response.end(page(url.searchParams.get('return_to') ?? ''));
      });
  const page = (returnTo: string) => `<!doctype html><h1>Sign in</h1>
<form method="post" action="/login"><input name="user"><input name="password" type="password">
<input type="hidden" name="return_to" value="${returnTo.replaceAll('&', '&amp;')}"><button name="go" value="1">Go</button></form>`;
  return { users, login, listener };
}

const consent = {
  en: { title: 'See your orders', detail: 'What you bought.' },
  fr: { title: 'Voir vos commandes', detail: 'Vos achats.' },
};

async function start() {
  const { users, login, listener } = createHost();
  const kit = await createTestOstiary({
    ...{ users, login, languages: ['en', 'fr'], refreshTokens: {} },
    scopes: { orders: { claims: { orders: z.array(z.string()) }, consent } },
  });
  kit.serve(listener(kit.ostiary));
  return kit;
}
const fields = { user: 'ana', password: 'secret' };

describe('the kit of a host', () => {
  it('signs a user in through the login and the consent page of the host, and calls its API', async () => {
    await using kit = await start();
    const app = await kit.app({ allowedScopes: ['openid', 'profile', 'orders', 'offline_access'] });
    const session = await app.signIn({ fields });
    expect(session.claims).toMatchObject({ sub: 'u-1', aud: app.client.clientId });
    expect(session.userinfo).toMatchObject({ name: 'Ana', orders: ['A-1'] });
    expect((await session.fetch('/api/orders')).status).toBe(200);
    const again = await session.refresh();
    expect(again.tokens.access_token).not.toBe(session.tokens.access_token);
    await again.revoke();
    expect((await session.fetch('/api/orders')).status).toBe(403);
    await expect(again.refresh()).rejects.toThrow('the refresh: 400');
  });

  it('keeps browsers apart, and remembers consent', async () => {
    await using kit = await start();
    const app = await kit.app({ allowedScopes: ['openid'] });
    const browser = kit.browser();
    const first = await app.signIn({ fields, browser });
    expect((await app.signIn({ browser, parameters: { prompt: 'none' } })).claims?.sub).toBe('u-1');
    expect(first.browser).toBe(browser);
    await expect(app.signIn({ parameters: { prompt: 'none' } })).rejects.toThrow('login_required');
    const other = await app.signIn({ fields: { user: 'ben', password: 'hidden' } });
    expect(other.claims?.sub).toBe('u-2');
  });

  it('says where a user is stopped', async () => {
    await using kit = await start();
    const app = await kit.app({ allowedScopes: ['openid'] });
    await expect(app.signIn({ fields, decision: 'deny' })).rejects.toThrow('access_denied');
    await expect(app.signIn({ fields: { user: 'ana', password: 'wrong' } })).rejects.toThrow(
      '/login answered 401: Sign in',
    );
    await expect(app.signIn()).rejects.toThrow('/login answered 200: Sign in');
    await expect(app.signIn({ fields: { mail: 'ana' } })).rejects.toThrow('/login answered 200: Sign in');
    await expect(kit.browser().submit({ user: 'ana' })).rejects.toThrow(
      'no form has the fields user: no page is open',
    );
  });

  it('says what the log says where a page is one of an error', async () => {
    const { login, listener } = createHost();
    await using kit = await createTestOstiary({ login, users: { find: (sub) => ({ sub, kid: '' }) } });
    kit.serve(listener(kit.ostiary));
    const app = await kit.app({ allowedScopes: ['openid'] });
    await expect(app.signIn({ fields })).rejects.toThrow(
      /answered 500: .*Something went wrong.*users\.find: kid/,
    );
  });

  it('takes no answer that is not its own', async () => {
    await using kit = await start();
    const app = await kit.app({ allowedScopes: ['openid'] });
    const iss = encodeURIComponent(kit.authUrl);
    for (const [query, problem] of [
      [() => `state=y&code=x&iss=${iss}`, 'another state'],
      [() => `code=x&iss=${iss}`, 'another state'],
      [(state: string) => `state=${state}&code=x&iss=https://evil.example`, 'another issuer'],
      [(state: string) => `state=${state}&code=x`, 'another issuer'],
    ] as const) {
      kit.serve({
        fetch({ url }) {
          const state = new URL(url).searchParams.get('state') ?? '';
          return Response.redirect(`https://app.example/callback?${query(state)}`);
        },
      });
      await expect(app.signIn()).rejects.toThrow(problem);
    }
  });

  it.each<[string, JWTPayload, string | null]>([
    ['that is right', {}, null],
    ['of another issuer', { iss: 'https://evil.example' }, 'unexpected "iss" claim value'],
    ['for another app', { aud: 'another-app' }, 'unexpected "aud" claim value'],
    ['of another sign-in', { nonce: 'of another sign-in' }, 'another nonce'],
    ['without a nonce', { nonce: undefined }, 'another nonce'],
    ['that has ended', { exp: 1 }, '"exp" claim timestamp check failed'],
    ['of another user', { sub: 'u-2' }, 'userinfo is of another user'],
  ])('takes an ID token %s for what it is', async (_what, changes, problem) => {
    const { users, login } = createHost();
    const authenticate = () => ({ sub: 'u-1', authenticatedAt: new Date() });
    await using kit = await createTestOstiary({ users, login: { ...login, authenticate } });
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'forger', alg: 'ES256', use: 'sig' }];
    kit.serve({
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/.well-known/jwks.json') return Response.json({ keys });
        const answer = await kit.ostiary.fetch(request);
        if (pathname !== '/v1/oauth/token') return answer;
        const tokens = (await answer.json()) as { readonly id_token: string };
        const forged = new SignJWT({ ...decodeJwt(tokens.id_token), ...changes });
        const signed = forged.setProtectedHeader({ alg: 'ES256', kid: 'forger', typ: 'JWT' });
        return Response.json({ ...tokens, id_token: await signed.sign(privateKey) });
      },
    });
    const app = await kit.app({ allowedScopes: ['openid'] });
    const said = await app.signIn().then(
      () => null,
      (error: Error) => error.message,
    );
    expect(said).toEqual(problem === null ? null : expect.stringContaining(problem));
  });

  it('says when a login leads to an address that is not of the kit', async () => {
    const { users, login } = createHost();
    const elsewhere = { ...login, loginUrl: () => 'http://localhost:3000/login' };
    await using kit = await createTestOstiary({ users, login: elsewhere });
    const app = await kit.app({ allowedScopes: ['openid'] });
    await expect(app.signIn()).rejects.toThrow(/left for http:\/\/localhost:3000\/login, .* as authUrl/);
  });

  it('lets a test walk through pages by hand', async () => {
    await using kit = await start();
    const browser = kit.browser();
    const page = await browser.open('/login?return_to=/account/apps');
    expect([page.status, page.text.includes('Sign in')]).toEqual([200, true]);
    const apps = await browser.submit(fields);
    expect([apps.url.pathname, apps.text.includes('No connected apps')]).toEqual(['/account/apps', true]);
  });

  it('moves the clock, plans faults, and receives what the service sends', async () => {
    await using kit = await start();
    const received: string[] = [];
    kit.receive('https://app.example/logout', async (request) => {
      received.push(await request.text());
      return new Response(null, { status: 204 });
    });
    const settings = {
      backchannelLogoutUri: 'https://app.example/logout',
      postLogoutRedirectUris: ['https://app.example/bye'],
    };
    const app = await kit.app({ allowedScopes: ['openid'], ...settings });
    const session = await app.signIn({ fields });
    const logout = new URLSearchParams({
      id_token_hint: session.tokens.id_token ?? '',
      post_logout_redirect_uri: 'https://app.example/bye',
    });
    expect((await session.browser.open(`/oauth/logout?${logout}`)).location?.pathname).toBe('/bye');
    const again = await app.signIn({ fields });
    logout.delete('id_token_hint');
    logout.set('client_id', app.client.clientId);
    const stayed = again.browser.walk(`/oauth/logout?${logout}`, { decision: 'deny' });
    await expect(stayed).rejects.toThrow('You are still signed in');
    expect((await again.browser.walk(`/oauth/logout?${logout}`)).pathname).toBe('/bye');
    await kit.settle();
    // The user has signed out twice.
    expect(received).toEqual(Array(2).fill(expect.stringMatching(/^logout_token=/)));
    const french = kit.browser({ languages: ['fr', 'en'] });
    expect((await french.open('/oauth/logout')).text).toContain('déconnecté');
    await kit.clock.advance('1h');
    expect((await session.fetch('/v1/oauth/userinfo')).status).toBe(401);
    kit.faults.refuse({ match: 'POST /v1/oauth/token' });
    await expect(app.signIn({ fields })).rejects.toThrow('fetch failed');
    kit.faults.assertUsed();
  });

  it('lets middleware set headers at the last moment, and secure cookies', async () => {
    const { users, login } = createHost();
    await using kit = await createTestOstiary({ users, login });
    kit.serve((request, response) => {
      // As the package `on-headers` does, with which cookie-session, express-session and others set their cookies.
      const { writeHead } = response;
      response.writeHead = ((...given: Parameters<typeof writeHead>) => {
        response.writeHead = writeHead;
        const isSecure = 'encrypted' in request.socket && request.socket.encrypted === true;
        response.setHeader('Set-Cookie', `session=1; Path=/${isSecure ? '; Secure' : ''}`);
        return response.writeHead(...given);
      }) as typeof writeHead;
      if (request.url === '/end') response.end('end');
      else if (request.url === '/write') response.write('write', () => response.end());
      else if (request.url === '/flush') {
        response.flushHeaders();
        response.end();
      } else response.writeHead(200, { 'X-Given': '1' }).end();
    });
    for (const path of ['/end', '/write', '/flush', '/head']) {
      const { headers } = await kit.fetch(`${kit.authUrl}${path}`);
      expect([path, headers.getSetCookie()]).toEqual([path, ['session=1; Path=/; Secure']]);
    }
    const plain = await createTestOstiary({ users, login, authUrl: 'http://localhost:3000' });
    plain.serve(
      (request, response) =>
        void response.end(String('encrypted' in request.socket && request.socket.encrypted)),
    );
    expect(await (await plain.fetch(plain.authUrl)).text()).toBe('false');
    await plain.close();
  });

  it('lets a server set time-outs, and headers as a list', async () => {
    const { users, login } = createHost();
    await using kit = await createTestOstiary({ users, login });
    kit.serve((request, response) => {
      request.setTimeout(1_000);
      request.socket.setNoDelay(true).setKeepAlive(true);
      response.setTimeout(1_000);
      response.writeHead(200, ['X-A', '1', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2']).end('text');
    });
    const { headers } = await kit.fetch(kit.authUrl);
    expect([headers.get('x-a'), headers.getSetCookie()]).toEqual(['1', ['a=1', 'b=2']]);
  });

  it('waits ten seconds for the app that is told of a sign-out, and tells it again', async () => {
    await using kit = await start();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let told = 0;
    kit.receive('https://app.example/logout', () => {
      told += 1;
      return told === 1 ? new Promise<Response>(() => undefined) : new Response();
    });
    const app = await kit.app({
      allowedScopes: ['openid'],
      backchannelLogoutUri: 'https://app.example/logout',
    });
    const { browser, tokens } = await app.signIn({ fields });
    await browser.open(`/oauth/logout?id_token_hint=${tokens.id_token}`);
    const settled = kit.settle();
    await vi.waitFor(() => expect(told).toBe(1), { interval: 0 });
    await vi.advanceTimersByTimeAsync(10_000);
    await settled;
    await kit.clock.advance('1m');
    expect(told).toBe(2);
  });

  it('waits for no receiver and no server longer than the caller, nor after its end', async () => {
    const kit = await start();
    const never = () => new Promise<Response>(() => undefined);
    kit.receive('https://app.example/', never);
    kit.serve({ fetch: never });
    for (const url of ['https://app.example/', kit.authUrl]) {
      const control = new AbortController();
      const given = kit.fetch(url, { signal: control.signal });
      setImmediate(() => control.abort(new Error('given up')));
      await expect(given).rejects.toThrow('given up');
    }
    const waiting = ['https://app.example/', kit.authUrl].map((url) =>
      expect(kit.fetch(url)).rejects.toThrow('the test kit was closed'),
    );
    await kit.close();
    await Promise.all(waiting);
  });

  it('answers too many requests in the words of the endpoint', async () => {
    await using kit = await start();
    kit.faults.rateLimit({ retryAfterSeconds: 7 });
    const answer = await kit.fetch(`${kit.authUrl}/v1/oauth/token`, { method: 'POST' });
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      429,
      '7',
      { error: 'slow_down', error_description: 'Too many requests.' },
    ]);
  });

  it('knows its options: wrong ones do not compile, and are refused', async () => {
    const { users, login } = createHost();
    type Options = HostTestOptions | TestOstiaryOptions;
    expectTypeOf<HostTestOptions>().not.toHaveProperty('storage');
    expectTypeOf<{ users: typeof users; login: typeof login }>().toExtend<Options>();
    expectTypeOf<{ users: typeof users }>().not.toExtend<Options>();
    await expect(createTestOstiary({ users } as never)).rejects.toThrow('login');
    type Scopes = { points: { claims: { points: z.ZodNumber }; consent: typeof consent } };
    type Find = Parameters<typeof createTestOstiary<Scopes>>[0]['users']['find'];
    expectTypeOf<(sub: string) => { sub: string; claims: { points: number } }>().toExtend<Find>();
    expectTypeOf<(sub: string) => { sub: string; claims: { points: string } }>().not.toExtend<Find>();
    // Compile-time test: the options determine the scopes' names.
    await using kit = await createTestOstiary({
      login,
      scopes: { points: { claims: { points: z.number() }, consent } },
      users: { find: (sub) => ({ sub, claims: { points: 1 } }) },
    });
    type App = NonNullable<Parameters<typeof kit.app>[0]>;
    expectTypeOf<{ allowedScopes: ['points'] }>().toExtend<App>();
    expectTypeOf<{ allowedScopes: ['phone'] }>().not.toExtend<App>();
  });
});
