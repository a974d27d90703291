import { createServer, type RequestListener } from 'node:http';
import { Auth, type AuthConfig, customFetch } from '@auth/core';
import type { OIDCConfig } from '@auth/core/providers';
import type { Profile } from '@auth/core/types';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';
import express from 'express';
import openid from 'express-openid-connect';
import { expect, it, onTestFinished } from 'vitest';
import { TestBrowser } from '../../../packages/core/test/support/browser.ts';
import { ana, Host } from '../../../packages/core/test/support/directory.ts';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';
import { close, listen } from '../../support/http.ts';

// Libraries that request `openid profile email` by default, or read those claims. Auth.js is tested without
// `email`, too.

const host = new Host();
host.people.set(ana.sub, { ...ana, email: 'ana@example.com', emailVerified: true });
const provider = await startProvider(
  { login: host.loginWithSignOut, scopes: { email: true, standardProfile: true }, refreshTokens: {} },
  host,
);
const allowedScopes = ['openid', 'profile', 'email', 'offline_access'];

/** Starts an app on its own server, with a browser that goes between app and provider. */
async function startApp(listenerOf: (origin: string) => RequestListener | Promise<RequestListener>) {
  const server = createServer();
  const origin = await listen(server);
  onTestFinished(() => close(server));
  server.on('request', await listenerOf(origin));
  return { origin, browser: new TestBrowser(origin) };
}

/** Follows a URL through the provider's pages, back to the app. */
async function throughProvider(
  address: string,
  browser = provider.browser(),
  at = provider,
): Promise<string> {
  const { location, status, text } = await at.follow(browser, address);
  if (location === null) throw new Error(`${status} ${text.slice(0, 300)}`);
  return location;
}

const defaults = { at: provider, client: { allowedScopes }, scope: 'openid profile email' };
const authJsCases: readonly {
  readonly what: string;
  readonly at: TestProvider;
  readonly client: Parameters<TestProvider['client']>[0];
  readonly settings: Partial<OIDCConfig<Profile>>;
  readonly scope: string;
  readonly user: object;
}[] = [
  // Without userinfo, the app's user is empty: the ID token has no identity fields.
  { what: 'with its defaults', ...defaults, settings: {}, user: {} },
  {
    what: 'and reads userinfo when it is told to',
    ...{ ...defaults, settings: { idToken: false } },
    user: { name: ana.name, email: 'ana@example.com', image: ana.avatarUrl },
  },
  {
    what: 'with each of its checks and a profile of the app',
    at: await startProvider(),
    client: {},
    settings: {
      checks: ['pkce', 'state', 'nonce'],
      authorization: { params: { scope: 'openid profile' } },
      idToken: false,
      profile: ({ sub, name }) => ({ id: String(sub), name: String(name), image: null, email: null }),
    },
    scope: 'openid profile',
    // Auth.js leaves `email` out if the claims do not have it.
    user: { name: ana.name, image: null },
  },
];

it.each(authJsCases)('Auth.js signs in $what', async ({ at, client: allowed, settings, ...expected }) => {
  const app = 'https://app.example';
  const client = await at.client({ ...allowed, redirectUris: [`${app}/auth/callback/ostiary`] });
  const errors: unknown[] = [];
  const config: AuthConfig = {
    ...{ basePath: '/auth', secret: 'a secret of the application', trustHost: true },
    logger: { error: (error) => errors.push(error), warn() {}, debug() {} },
    providers: [
      {
        ...{ id: 'ostiary', name: 'Ostiary', type: 'oidc', issuer: at.origin },
        ...{ clientId: client.id, clientSecret: client.secret ?? '' },
        ...settings,
        // Auth.js requires https, and this test's provider is on loopback.
        [customFetch]: fetch,
      },
    ],
  };
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await Auth(new Request(app + path, { ...init, headers: { cookie } }), config);
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s);
      cookies.set(name, value);
    }
    return response;
  };
  const { csrfToken } = (await (await send('/auth/csrf')).json()) as { csrfToken: string };
  const body = new URLSearchParams({ csrfToken });
  const start = await send('/auth/signin/ostiary', { method: 'POST', body });
  const asked = start.headers.get('location') ?? '';
  expect(new URL(asked).searchParams.get('scope')).toBe(expected.scope);
  const back = new URL(await throughProvider(asked, at.browser(), at));
  await send(back.pathname + back.search);
  expect(errors).toEqual([]);
  expect(await (await send('/auth/session')).json()).toEqual({
    user: expected.user,
    expires: expect.any(String),
  });
});

it('better-auth signs in, reads userinfo, refreshes, and signs out here too', async () => {
  const client = { id: '', secret: '' };
  const { origin, browser } = await startApp(async (baseURL) => {
    const provisioned = await provider.client({
      ...{ allowedScopes, redirectUris: [`${baseURL}/api/auth/callback/ostiary`] },
      postLogoutRedirectUris: [`${baseURL}/bye`],
    });
    Object.assign(client, provisioned);
    const auth = betterAuth({
      ...{ baseURL, secret: 'a secret of the application, long enough' },
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      trustedOrigins: [baseURL],
      plugins: [
        genericOAuth({
          config: [
            {
              providerId: 'ostiary',
              discoveryUrl: `${provider.origin}/.well-known/openid-configuration`,
              ...{ clientId: client.id, clientSecret: client.secret },
              scopes: ['openid', 'profile', 'email', 'offline_access'],
              requireIdTokenVerification: true,
              postLogoutRedirectURI: `${baseURL}/bye`,
            },
          ],
        }),
      ],
    });
    return toNodeHandler(auth);
  });
  const json = async (path: string, body?: object) => {
    const response = await fetch(origin + path, {
      headers: { cookie: browser.cookieHeader('/'), origin, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      browser.setCookie(name, value, '/');
    }
    return response.json();
  };
  const asked = await json('/api/auth/sign-in/social', { provider: 'ostiary', callbackURL: '/in' });
  const atProvider = provider.browser();
  await browser.get(await throughProvider(asked.url, atProvider));
  const session = await json('/api/auth/get-session');
  expect(session.user).toMatchObject({
    ...{ name: ana.name, email: 'ana@example.com', emailVerified: true, image: ana.avatarUrl },
  });
  const [{ id: accountId }] = await json('/api/auth/list-accounts');
  const refreshed = await json('/api/auth/refresh-token', { accountId });
  expect((await provider.userinfo(refreshed.accessToken)).json()).toMatchObject({ sub: ana.sub });
  const left = await json('/api/auth/sign-out', {});
  expect((await atProvider.get(left.url)).location).toMatch(`${origin}/bye`);
});

/** Starts an app with express-openid-connect: `/me` shows the app's user, `/renew` fetches new tokens. */
const startExpress = (authorizationParams: { readonly scope?: string } = {}) =>
  startApp(async (baseURL) => {
    const client = await provider.client({
      ...{ allowedScopes, redirectUris: [`${baseURL}/callback`], postLogoutRedirectUris: [baseURL] },
    });
    const app = express();
    app.use(
      openid.auth({
        ...{ issuerBaseURL: provider.origin, baseURL, clientID: client.id },
        ...{ clientSecret: client.secret ?? '', secret: 'a secret of the application, long enough' },
        ...{ authRequired: false, idpLogout: true },
        authorizationParams: { response_type: 'code', ...authorizationParams },
      }),
    );
    app.get('/me', openid.requiresAuth(), async (request, response) => {
      const { accessToken } = request.oidc;
      response.json({ user: await request.oidc.fetchUserInfo(), token: accessToken?.access_token });
    });
    app.get('/renew', openid.requiresAuth(), async (request, response) => {
      await request.oidc.accessToken?.refresh();
      response.redirect('/me');
    });
    return app as RequestListener;
  });

it('express-openid-connect signs in with its default scopes, reads userinfo, and signs out here too', async () => {
  const { origin, browser } = await startExpress();
  const start = await browser.get(`${origin}/login`);
  expect(start.callback.get('scope')).toBe('openid profile email');
  const atProvider = provider.browser();
  await browser.get(await throughProvider(start.location ?? '', atProvider));
  const me = await browser.get(`${origin}/me`);
  expect(me.json().user).toMatchObject({ name: ana.name, email: 'ana@example.com', sub: ana.sub });
  const leaving = await browser.get(`${origin}/logout`);
  const bye = await atProvider.get(leaving.location ?? '');
  expect(bye.location).toMatch(new RegExp(`^${origin}/?$`));
  expect((await browser.get(`${origin}/me`)).status).toBe(302);
});

it('express-openid-connect refreshes its tokens when it asks for offline_access', async () => {
  const { origin, browser } = await startExpress({ scope: 'openid profile offline_access' });
  const start = await browser.get(`${origin}/login`);
  await browser.get(await throughProvider(start.location ?? ''));
  const first = (await browser.get(`${origin}/me`)).json().token;
  await browser.get(`${origin}/renew`);
  const renewed = (await browser.get(`${origin}/me`)).json();
  expect(renewed).toMatchObject({ token: expect.stringMatching(/./), user: { sub: ana.sub } });
  expect(renewed.token).not.toBe(first);
});
