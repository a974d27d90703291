import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { describe, expect, it } from 'vitest';
import { clientKey, clientWithKeys } from '../../../packages/core/test/support/client-keys.ts';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { serve, startProvider } from '../../../packages/core/test/support/running.ts';

const provider = await startProvider({
  ...{ privateKeyJwt: true, pushedRequests: {}, dpop: true, introspection: true, refreshTokens: {} },
  webhooks: { allowPrivateTargets: true },
});
const allowedScopes = ['openid', 'profile', 'offline_access'] as const;
const scope = 'openid profile offline_access';

/** Discovers the provider as an application does. Plain HTTP is allowed for this test only. */
const discover = (id: string, auth: client.ClientAuth): Promise<client.Configuration> =>
  client.discovery(new URL(provider.origin), id, undefined, auth, {
    execute: [client.allowInsecureRequests],
  });

async function signIn(config: client.Configuration, redirectUri: string, options?: client.DPoPOptions) {
  const verifier = client.randomPKCECodeVerifier();
  const [state, nonce] = [client.randomState(), client.randomNonce()];
  const url = await client.buildAuthorizationUrlWithPAR(
    config,
    {
      ...{ redirect_uri: redirectUri, scope, state, nonce },
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    },
    options,
  );
  expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
  const { location } = await provider.follow(provider.browser(), url.href);
  return client.authorizationCodeGrant(
    config,
    new URL(location ?? ''),
    {
      ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
    },
    undefined,
    options,
  );
}

describe('openid-client', () => {
  it.each(['ES256', 'PS256', 'Ed25519'])(
    'pushes, signs in, refreshes and revokes as a client with a key for %s',
    async (alg) => {
      const key = await clientKey(alg);
      const app = await clientWithKeys(provider, [key], { allowedScopes, requirePushedRequests: true });
      const auth = client.PrivateKeyJwt({ key: key.privateKey, kid: 'key-1' });
      const config = await discover(app.id, auth);
      const tokens = await signIn(config, app.redirectUri);
      expect(tokens.claims()?.sub).toBe(ana.sub);
      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
      expect((await client.fetchUserInfo(config, refreshed.access_token, ana.sub)).sub).toBe(ana.sub);
      await client.tokenRevocation(config, refreshed.access_token);
      expect(await provider.isAlive(refreshed.access_token)).toBe(false);
    },
  );

  it('uses keys that the app publishes, and new ones after a rotation', async () => {
    const keys = [await clientKey('ES256', 'first')];
    const origin = await serve((_request, response) =>
      response
        .setHeader('content-type', 'application/jwk-set+json')
        .end(JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) })),
    );
    const app = await provider.client({ allowedScopes, jwksUri: `${origin}/jwks` });
    const signInWith = async (index: number) => {
      const { privateKey, publicJwk } = keys[index] ?? (await clientKey());
      const key = { key: privateKey, kid: publicJwk.kid ?? '' };
      return signIn(await discover(app.id, client.PrivateKeyJwt(key)), app.redirectUri);
    };
    expect((await signInWith(0)).claims()?.sub).toBe(ana.sub);
    keys.push(await clientKey('PS256', 'second'));
    provider.clock.advance(30_000);
    expect((await signInWith(1)).claims()?.sub).toBe(ana.sub);
  });

  it('keeps the FAPI 2.0 Security Profile: signs, pushes, and proves its key for every token', async () => {
    const key = await clientKey('PS256');
    const settings = { allowedScopes, profile: 'fapi2', idTokenAlg: 'ES256' } as const;
    const app = await clientWithKeys(provider, [key], settings);
    const auth = client.PrivateKeyJwt({ key: key.privateKey, kid: 'key-1' });
    const metadata = { id_token_signed_response_alg: 'ES256' };
    const config = await client.discovery(new URL(provider.origin), app.id, metadata, auth, {
      execute: [client.allowInsecureRequests],
    });
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair());
    const tokens = await signIn(config, app.redirectUri, { DPoP });
    expect(tokens.token_type).toBe('dpop');
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
    const userinfo = await client.fetchUserInfo(config, refreshed.access_token, ana.sub, { DPoP });
    expect(userinfo.sub).toBe(ana.sub);
    await expect(client.fetchUserInfo(config, refreshed.access_token, ana.sub)).rejects.toMatchObject({
      status: 401,
    });
    await expect(signIn(config, app.redirectUri)).rejects.toMatchObject({ error: 'invalid_dpop_proof' });
  });

  it('introspects as a resource server with a key', async () => {
    const key = await clientKey();
    const settings = { resourceServer: true, redirectUris: [], allowedScopes: [] };
    const api = await clientWithKeys(provider, [key], settings);
    const config = await discover(api.id, client.PrivateKeyJwt({ key: key.privateKey, kid: 'key-1' }));
    const token = await provider.token(await provider.client());
    expect(await client.tokenIntrospection(config, token)).toMatchObject({ active: true, sub: ana.sub });
  });

  it('is refused with a key of another client', async () => {
    const [own, stolen] = [await clientKey(), await clientKey()];
    const app = await clientWithKeys(provider, [own]);
    const config = await discover(app.id, client.PrivateKeyJwt({ key: stolen.privateKey, kid: 'key-1' }));
    await expect(signIn(config, app.redirectUri)).rejects.toMatchObject({
      error: 'invalid_client',
      status: 401,
    });
  });
});

/** Option of oauth4webapi that allows plain HTTP, which apps do not need. */
const insecure = { [oauth.allowInsecureRequests]: true };

describe('oauth4webapi', () => {
  it.each(['ES256', 'PS256', 'Ed25519', 'EdDSA'])('pushes and signs in with a key for %s', async (alg) => {
    const key = await clientKey(alg);
    const app = await clientWithKeys(provider, [key]);
    const issuer = new URL(provider.origin);
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const own: oauth.Client = { client_id: app.id };
    const auth = oauth.PrivateKeyJwt({ key: key.privateKey, kid: 'key-1' });
    const verifier = oauth.generateRandomCodeVerifier();
    const pushed = await oauth.pushedAuthorizationRequest(
      as,
      own,
      auth,
      new URLSearchParams({
        ...{ response_type: 'code', redirect_uri: app.redirectUri, scope: 'openid', state: 'st' },
        ...{
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        },
      }),
      insecure,
    );
    const { request_uri } = await oauth.processPushedAuthorizationResponse(as, own, pushed);
    const query = new URLSearchParams({ client_id: app.id, request_uri });
    const { callback } = await provider.follow(provider.browser(), `${as.authorization_endpoint}?${query}`);
    const parameters = oauth.validateAuthResponse(as, own, callback, 'st');
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      own,
      auth,
      parameters,
      app.redirectUri,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, own, response, { requireIdToken: true });
    expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(ana.sub);
  });
});
