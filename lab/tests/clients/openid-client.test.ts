import * as client from 'openid-client';
import { expect, it } from 'vitest';
import type { TestBrowser } from '../../../packages/core/test/support/browser.ts';
import { ana, Host } from '../../../packages/core/test/support/directory.ts';
import type { TestClient, TestProvider } from '../../../packages/core/test/support/provider.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';

const provider = await startProvider();

/** Discovers the provider as an application does. Plain HTTP is allowed for this test only. */
const discover = (
  { id, secret }: TestClient,
  auth = client.ClientSecretPost(secret ?? ''),
  metadata: Partial<client.ClientMetadata> = {},
  at = provider,
): Promise<client.Configuration> =>
  client.discovery(new URL(at.origin), id, metadata, auth, {
    execute: [client.allowInsecureRequests],
  });

async function signIn(
  config: client.Configuration,
  redirectUri: string,
  {
    at = provider,
    scope = 'openid profile kyc',
    more = {},
    browser = at.browser(),
  }: Partial<{
    at: TestProvider;
    /** Scope of the authorization request; `null` if the request names no scope. */
    scope: string | null;
    more: Record<string, string>;
    browser: TestBrowser;
  }> = {},
) {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const nonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    ...(scope !== null && { scope }),
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  });
  const { location } = await at.follow(browser, url.href);
  return {
    callback: new URL(location ?? ''),
    checks: {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    },
  };
}

it.each([
  ['Basic', (secret: string) => client.ClientSecretBasic(secret)],
  ['the body', (secret: string) => client.ClientSecretPost(secret)],
])(
  'signs in with its secret in %s, validates the ID token, reads userinfo and revokes',
  async (_where, auth) => {
    const app = await provider.client();
    const config = await discover(app, auth(app.secret ?? ''));
    const { callback, checks } = await signIn(config, app.redirectUri);
    const tokens = await client.authorizationCodeGrant(config, callback, checks);
    expect(tokens.claims()?.sub).toBe(ana.sub);

    const userinfo = await client.fetchUserInfo(config, tokens.access_token, ana.sub);
    expect(userinfo).toMatchObject({ sub: ana.sub, handle: 'ana', kycTier: 2, kycStatus: 'approved' });

    await client.tokenRevocation(config, tokens.access_token);
    await expect(client.fetchUserInfo(config, tokens.access_token, ana.sub)).rejects.toMatchObject({
      status: 401,
    });
  },
);

it('signs in as a public client and with ES256', async () => {
  const app = await provider.client({ public: true, idTokenAlg: 'ES256' });
  const config = await discover(app, client.None(), { id_token_signed_response_alg: 'ES256' });
  const { callback, checks } = await signIn(config, app.redirectUri);
  expect((await client.authorizationCodeGrant(config, callback, checks)).claims()?.aud).toBe(app.id);
});

it('asks about a token as a resource server', async () => {
  const asked = await startProvider({ introspection: true });
  const token = await asked.token(await asked.client(), 'openid kyc');
  const api = await asked.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
  const config = await client.discovery(
    new URL(asked.origin),
    api.id,
    {},
    client.ClientSecretBasic(api.secret ?? ''),
    {
      execute: [client.allowInsecureRequests],
    },
  );
  expect(await client.tokenIntrospection(config, token)).toMatchObject({
    ...{ active: true, sub: ana.sub, scope: 'openid kyc', token_type: 'Bearer', iss: asked.origin },
  });
  await asked.revoke(token);
  expect(await client.tokenIntrospection(config, token)).toEqual({ active: false });
});

it.each([false, true])('refreshes, validates the new ID token, and revokes; public: %s', async (isPublic) => {
  const at = await startProvider({ refreshTokens: {} });
  const app = await at.client({ public: isPublic, allowedScopes: ['openid', 'profile', 'offline_access'] });
  const config = await discover(app, isPublic ? client.None() : undefined, {}, at);
  const scope = 'openid profile offline_access';
  const { callback, checks } = await signIn(config, app.redirectUri, { at, scope });
  const first = await client.authorizationCodeGrant(config, callback, checks);
  const second = await client.refreshTokenGrant(config, first.refresh_token ?? '');
  expect(second.claims()).toMatchObject({ sub: ana.sub, auth_time: first.claims()?.auth_time });
  const third = await client.refreshTokenGrant(config, second.refresh_token ?? '', { scope: 'profile' });
  expect([third.scope, third.claims()]).toEqual(['profile', undefined]);
  await client.tokenRevocation(config, third.refresh_token ?? '');
  await expect(client.refreshTokenGrant(config, third.refresh_token ?? '')).rejects.toMatchObject({
    ...{ error: 'invalid_grant', status: 400 },
  });
});

it.each([false, true])(
  'refreshes in two tabs at once, which keep the sign-in; public: %s',
  async (isPublic) => {
    const at = await startProvider({ refreshTokens: {} });
    const app = await at.client({ public: isPublic, allowedScopes: ['openid', 'profile', 'offline_access'] });
    const auth = isPublic ? client.None() : undefined;
    const tabs = await Promise.all([discover(app, auth, {}, at), discover(app, auth, {}, at)]);
    const [config] = tabs;
    const { callback, checks } = await signIn(config, app.redirectUri, {
      at,
      scope: 'openid profile offline_access',
    });
    const first = await client.authorizationCodeGrant(config, callback, checks);
    const answers = await Promise.all(
      tabs.map((tab) => client.refreshTokenGrant(tab, first.refresh_token ?? '')),
    );
    // The app may keep the refresh token of either response. Both access tokens are valid.
    for (const { access_token } of answers)
      expect(await client.fetchUserInfo(config, access_token, ana.sub)).toMatchObject({ sub: ana.sub });
    for (const { refresh_token } of answers) {
      const next = await client.refreshTokenGrant(config, refresh_token ?? '');
      expect(await client.fetchUserInfo(config, next.access_token, ana.sub)).toMatchObject({ sub: ana.sub });
    }
  },
);

it('signs in on any port without a scope, as a native app, and refreshes what it never asked for', async () => {
  const at = await startProvider({ refreshTokens: {} });
  const app = await at.client({
    ...{ public: true, allowedScopes: ['openid', 'profile'], defaultScope: 'openid profile' },
    ...{
      redirectUris: ['http://127.0.0.1/callback'],
      loopbackPorts: 'any',
      refreshWithoutOfflineAccess: true,
    },
  });
  const config = await discover(app, client.None(), {}, at);
  for (const scope of [null, 'openid profile offline_access']) {
    const { callback, checks } = await signIn(config, 'http://127.0.0.1:49321/callback', { at, scope });
    expect(callback.port).toBe('49321');
    const tokens = await client.authorizationCodeGrant(config, callback, checks);
    expect(tokens.scope).toBe('openid profile');
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(await client.fetchUserInfo(config, next.access_token, ana.sub)).toMatchObject({ name: ana.name });
  }
});

it('signs in with a private-use scheme without a dot, as a first-party app', async () => {
  const redirectUri = 'cursor://anysphere.cursor-retrieval/oauth/callback';
  const app = await provider.client({ public: true, firstParty: true, redirectUris: [redirectUri] });
  const config = await discover(app, client.None());
  const { callback, checks } = await signIn(config, redirectUri);
  const tokens = await client.authorizationCodeGrant(config, callback, checks);
  expect(tokens.claims()?.sub).toBe(ana.sub);
  for (const other of ['cursor://anysphere.cursor-retrieval/oauth', 'cursor://other/oauth/callback'])
    expect(await provider.attempt(app, { redirect_uri: other })).toBe('400 redirect_uri_mismatch');
});

it('asks for a class of the sign-in and for claims in the ID token', async () => {
  const host = new Host();
  const login = { ...host.login, acrValues: ['urn:example:silver', 'urn:example:gold'] };
  const at = await startProvider({ login, claimsParameter: true }, host);
  const app = await at.client();
  const config = await discover(app, client.ClientSecretPost(app.secret ?? ''), {}, at);
  expect(config.serverMetadata()).toMatchObject({
    ...{ acr_values_supported: login.acrValues, claims_parameter_supported: true },
  });
  const browser = at.browser(null);
  at.signIn(browser, ana.sub, 5_000, { acr: 'urn:example:gold', amr: ['pwd', 'otp'] });
  const claims = { id_token: { name: null, acr: { essential: true, values: ['urn:example:gold'] } } };
  const more = { acr_values: 'urn:example:gold', claims: JSON.stringify(claims) };
  const { callback, checks } = await signIn(config, app.redirectUri, { at, browser, more });
  const tokens = await client.authorizationCodeGrant(config, callback, checks);
  expect(tokens.claims()).toMatchObject({ acr: 'urn:example:gold', amr: ['pwd', 'otp'], name: ana.name });
  expect(tokens.claims()).not.toHaveProperty('handle');
});

it('signs its user out at the service, and gets the browser back', async () => {
  const host = new Host();
  const at = await startProvider({ login: host.loginWithSignOut }, host);
  const bye = 'https://app.example/bye';
  const app = await at.client({ postLogoutRedirectUris: [bye] });
  const config = await discover(app, undefined, {}, at);
  const { callback, checks } = await signIn(config, app.redirectUri, { at });
  const { id_token = '' } = await client.authorizationCodeGrant(config, callback, checks);
  const state = client.randomState();
  const parameters = { id_token_hint: id_token, post_logout_redirect_uri: bye, state };
  const browser = at.browser();
  const { location } = await browser.get(client.buildEndSessionUrl(config, parameters).href);
  expect(location).toBe(`${bye}?state=${state}`);
  expect(await at.attempt(app, { prompt: 'none' }, browser)).toBe('login_required');
});
