import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { TestProvider } from '../../../packages/core/test/support/provider.ts';

describe('openid-client', () => {
  let provider: TestProvider;
  beforeAll(async () => {
    provider = await TestProvider.start();
  });
  afterAll(() => provider.stop());

  /** What an application configures; plain HTTP is for this test only. */
  async function discover(
    clientId: string,
    secret: string | null,
    auth: client.ClientAuth,
  ): Promise<client.Configuration> {
    const metadata = secret === null ? undefined : secret;
    return client.discovery(new URL(provider.origin), clientId, metadata, auth, {
      execute: [client.allowInsecureRequests],
    });
  }

  async function signIn(config: client.Configuration, redirectUri: string) {
    const verifier = client.randomPKCECodeVerifier();
    const state = client.randomState();
    const nonce = client.randomNonce();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid profile kyc',
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const { location } = await provider.follow(provider.browser(), url.href);
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
      const config = await discover(app.id, app.secret, auth(app.secret ?? ''));
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
    const config = await client.discovery(
      new URL(provider.origin),
      app.id,
      { id_token_signed_response_alg: 'ES256' },
      client.None(),
      { execute: [client.allowInsecureRequests] },
    );
    const { callback, checks } = await signIn(config, app.redirectUri);
    expect((await client.authorizationCodeGrant(config, callback, checks)).claims()?.aud).toBe(app.id);
  });

  it('refuses an answer whose iss was changed', async () => {
    const app = await provider.client();
    const config = await discover(app.id, app.secret, client.ClientSecretPost(app.secret ?? ''));
    const { callback, checks } = await signIn(config, app.redirectUri);
    callback.searchParams.set('iss', 'https://attacker.example');
    await expect(client.authorizationCodeGrant(config, callback, checks)).rejects.toMatchObject({
      code: 'OAUTH_INVALID_RESPONSE',
      cause: { message: expect.stringContaining('"iss"') },
    });
  });

  it('refuses an ID token that was made for another nonce', async () => {
    const app = await provider.client();
    const config = await discover(app.id, app.secret, client.ClientSecretPost(app.secret ?? ''));
    const { callback, checks } = await signIn(config, app.redirectUri);
    await expect(
      client.authorizationCodeGrant(config, callback, { ...checks, expectedNonce: 'another' }),
    ).rejects.toMatchObject({ cause: { message: expect.stringContaining('"nonce"') } });
  });

  it('learns that the user denied', async () => {
    const app = await provider.client();
    const config = await discover(app.id, app.secret, client.ClientSecretPost(app.secret ?? ''));
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: app.redirectUri,
      scope: 'openid',
      state: 's',
    });
    const { location } = await provider.follow(provider.browser(), url.href, 'deny');
    await expect(
      client.authorizationCodeGrant(config, new URL(location ?? ''), { expectedState: 's' }),
    ).rejects.toMatchObject({ error: 'access_denied' });
  });
});
