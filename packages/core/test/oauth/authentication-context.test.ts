import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Authentication } from '../../src/index.ts';
import type { TestBrowser } from '../support/browser.ts';
import { ana, Host } from '../support/directory.ts';
import { basic, type TestClient, type TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const [silver, gold] = ['urn:example:silver', 'urn:example:gold'];

/** Starts a provider whose host lists the authentication context classes of its sign-ins. */
async function listing(options: Parameters<typeof startProvider>[0] = {}) {
  const host = new Host();
  const login = { ...host.login, acrValues: [silver, gold] };
  return startProvider({ login, introspection: true, claimsParameter: true, ...options }, host);
}
const provider = await listing();
const plain = await startProvider({ introspection: true });
const app = await provider.client();
const plainApp = await plain.client();

function signedIn(
  at: TestProvider,
  context: Pick<Authentication, 'acr' | 'amr'>,
  agoMs = 5_000,
): TestBrowser {
  const browser = at.browser(null);
  at.signIn(browser, ana.sub, agoMs, context);
  return browser;
}

/**
 * Follows an authorization request to the host application's login; returns the requirements that the login
 * received.
 */
async function sentToLogin(at: TestProvider, client: TestClient, changes: object, browser: TestBrowser) {
  const { outcome, callback } = await at.follow(browser, at.authorizeUrl(client, { ...changes }));
  expect(outcome).toBe('303 login');
  const { return_to: returnTo = '', ...request } = Object.fromEntries(callback);
  return { returnTo, request };
}

describe('acr and amr of login.authenticate', () => {
  it('are in the ID token, at introspection and in tokens.verify, after a refresh too', async () => {
    const at = await startProvider({ introspection: true, refreshTokens: {} });
    const client = await at.client({ refreshWithoutOfflineAccess: true });
    const context = { acr: gold, amr: ['pwd', 'otp'] };
    const tokens = await at.tokens(client, {}, signedIn(at, context));
    const { auth_time: authTime, ...claims } = decodeJwt(String(tokens.id_token));
    expect(claims).toMatchObject(context);
    const api = await at.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
    const introspected = await at.call(
      '/v1/oauth/introspect',
      new URLSearchParams({ token: String(tokens.access_token) }),
      { authorization: basic(api.id, api.secret) },
    );
    // RFC 9470, section 6.2, has no `amr`.
    expect(introspected.json()).toMatchObject({ acr: gold, auth_time: authTime });
    expect(introspected.json()).not.toHaveProperty('amr');
    expect(await at.ostiary.tokens.verify(String(tokens.access_token))).toMatchObject({
      ...{ acr: gold, authenticatedAt: new Date(Number(authTime) * 1000) },
    });
    const refreshed = await at.call('/v1/oauth/token', {
      ...{ grant_type: 'refresh_token', refresh_token: tokens.refresh_token },
      ...{ client_id: client.id, client_secret: client.secret },
    });
    expect(decodeJwt(String(refreshed.json().id_token))).toMatchObject({ ...context, auth_time: authTime });
  });

  it('are each there without the other, and nowhere without a host that returns them', async () => {
    for (const context of [{ acr: silver }, { amr: ['hwk'] }, {}]) {
      const { id_token } = await plain.tokens(plainApp, {}, signedIn(plain, context));
      const { acr, amr } = decodeJwt(String(id_token));
      expect({ ...(acr !== undefined && { acr }), ...(amr !== undefined && { amr }) }).toEqual(context);
    }
    const token = await plain.token(plainApp);
    const verified = await plain.ostiary.tokens.verify(token);
    for (const name of ['acr', 'authenticatedAt']) expect(verified).not.toHaveProperty(name);
  });

  it.each([
    { acr: '' },
    { acr: 'two words' },
    { acr: 'é' },
    { acr: 'x'.repeat(256) },
    { acr: 2 },
    { acr: null },
    { amr: 'pwd' },
    { amr: [] },
    { amr: [''] },
    { amr: ['pwd', 1] },
    { amr: Array.from({ length: 17 }, (_, index) => `m${index}`) },
  ])('of another form are an error of the host: %j', async (context) => {
    plain.logged.length = 0;
    const browser = signedIn(plain, context as object);
    expect(await plain.attempt(plainApp, {}, browser)).toBe('500 server_error');
    const [name] = Object.keys(context);
    expect(plain.errors.map(({ fields }) => String(Reflect.get(fields, 'err')))).toEqual([
      expect.stringMatching(`^LoginError: login\\.authenticate: ${name} has to be`),
    ]);
  });
});

describe('the metadata', () => {
  const metadata = async (at: TestProvider) => (await at.request('/.well-known/openid-configuration')).json();

  it('lists the classes and claims of a host that lists them, and of no other', async () => {
    const listed = await metadata(provider);
    expect(listed.acr_values_supported).toEqual([silver, gold]);
    expect(listed.claims_supported).toEqual(expect.arrayContaining(['acr', 'amr']));
    const unlisted = await metadata(plain);
    expect(unlisted).not.toHaveProperty('acr_values_supported');
    expect(unlisted.claims_supported).not.toContain('acr');
  });

  it.each([[[]], [['a b']], [['']], [[1]], ['urn:a'], [['a', 'a']]])(
    'takes no list such as %j',
    async (acrValues) => {
      const { login } = new Host();
      await expect(startProvider({ login: { ...login, acrValues } as never })).rejects.toThrow(
        /^createOstiary: login\.acrValues/,
      );
    },
  );
});

describe('acr_values', () => {
  it('reach the login of a user who must sign in, also if the host lists none', async () => {
    for (const [at, client] of [
      [plain, plainApp],
      [provider, app],
    ] as const) {
      const asked = { acr_values: ` ${gold}  ${silver} ` };
      const { request } = await sentToLogin(at, client, asked, at.browser(null));
      expect(request).toEqual({ reauthenticate: 'false', acr_values: `${gold} ${silver}` });
    }
  });

  it.each(['', ' ', 'é', 'x'.repeat(256), Array.from({ length: 17 }, (_, index) => index).join(' ')])(
    'that are no list of classes are ignored: %j',
    async (acr_values) => {
      const { request } = await sentToLogin(plain, plainApp, { acr_values }, plain.browser(null));
      expect(request).toEqual({ reauthenticate: 'false' });
    },
  );

  it('that came twice are ignored', async () => {
    const url = `${plain.authorizeUrl(plainApp, { acr_values: gold })}&acr_values=${silver}`;
    const { callback } = await plain.follow(plain.browser(null), url);
    expect(callback.has('acr_values')).toBe(false);
  });

  it('change nothing for a user who is signed in at a host that lists none', async () => {
    await plain.code(plainApp);
    expect(await plain.attempt(plainApp, { acr_values: gold })).toBe('code');
  });

  it('send a user with a lesser sign-in to the login once, where the host lists one of them', async () => {
    const browser = signedIn(provider, { acr: silver });
    await provider.code(app, {}, browser);
    expect(await provider.attempt(app, { acr_values: silver }, browser)).toBe('code');
    expect(await provider.attempt(app, { acr_values: 'urn:unknown' }, browser)).toBe('code');
    // No page may be shown, and the class is only wished for.
    expect(await provider.attempt(app, { acr_values: gold, prompt: 'none' }, browser)).toBe('code');
    const asked = { acr_values: `urn:unknown ${gold}` };
    const { request, returnTo } = await sentToLogin(provider, app, asked, browser);
    expect(request).toEqual({ reauthenticate: 'true', acr_values: `urn:unknown ${gold}` });
    // Coming back without a new sign-in leads to the login again.
    expect((await provider.follow(browser, returnTo)).outcome).toBe('303 login');
    provider.clock.advance(1_000);
    provider.signIn(browser, ana.sub, 0, { acr: silver });
    expect((await provider.follow(browser, returnTo)).outcome).toBe('303 code');
  });

  it('are met by the step-up, and the ID token says so', async () => {
    const browser = signedIn(provider, { acr: silver });
    const { returnTo } = await sentToLogin(provider, app, { acr_values: gold }, browser);
    provider.clock.advance(1_000);
    provider.signIn(browser, ana.sub, 0, { acr: gold });
    const { callback } = await provider.follow(browser, returnTo);
    const { id_token } = (await provider.exchange(app, callback.get('code') ?? '')).json();
    expect(decodeJwt(String(id_token)).acr).toBe(gold);
  });
});

describe('an essential acr', () => {
  const claims = (acr: object) => ({ claims: JSON.stringify({ id_token: { acr } }) });
  const essential = claims({ essential: true, values: [gold, 'urn:other'] });

  it('is given to a sign-in that has it', async () => {
    const browser = signedIn(provider, { acr: gold });
    expect(await provider.code(app, essential, browser)).toBeTruthy();
  });

  it.each([essential, claims({ essential: true, value: gold })])(
    'ends the request of a user who signs in without it: %j',
    async (asked) => {
      const browser = signedIn(provider, { acr: silver });
      const { request, returnTo } = await sentToLogin(provider, app, asked, browser);
      expect(request).toMatchObject({ reauthenticate: 'true', acr_values: expect.stringContaining(gold) });
      provider.clock.advance(1_000);
      provider.signIn(browser, ana.sub, 0, { acr: silver });
      const { callback, outcome } = await provider.follow(browser, returnTo);
      expect(outcome).toBe('303 unmet_authentication_requirements');
      expect([callback.get('state'), callback.has('code')]).toEqual(['a state', false]);
    },
  );

  it('is login_required where no page may be shown', async () => {
    const browser = signedIn(provider, { acr: silver });
    await provider.code(app, {}, browser);
    expect(await provider.attempt(app, { ...essential, prompt: 'none' }, browser)).toBe('login_required');
  });

  it('is asked for again when the sign-in is lesser by the time of the code', async () => {
    const browser = signedIn(provider, { acr: gold });
    const client = await provider.client();
    const page = provider.authorizeUrl(client, essential);
    const { location } = await browser.get(page);
    const text = (await browser.get(location ?? '')).text;
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const approved = await browser.post(location ?? '', { csrf, decision: 'approve' });
    provider.signIn(browser, ana.sub, 5_000, { acr: silver });
    expect((await provider.follow(browser, approved.location ?? '')).outcome).toBe('303 login');
  });

  it('without values, or not essential, lets every sign-in pass', async () => {
    const browser = signedIn(provider, {});
    await provider.code(app, {}, browser);
    expect(await provider.attempt(app, claims({ essential: true }), browser)).toBe('code');
    expect(await provider.attempt(app, claims({ values: ['urn:unknown'] }), browser)).toBe('code');
  });
});
