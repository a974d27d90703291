import express from 'express';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { expect, it } from 'vitest';
import { ana } from '../../../packages/core/test/support/directory.ts';
import type { TestClient } from '../../../packages/core/test/support/provider.ts';
import { serve, startProvider } from '../../../packages/core/test/support/running.ts';

const allowedScopes = ['openid', 'profile', 'offline_access'] as const;
const scope = allowedScopes.join(' ');
const provider = await startProvider({ dpop: true, refreshTokens: {}, pushedRequests: {} });

/**
 * Starts an API of the application on another origin, which accepts DPoP-bound tokens for its own address
 * only.
 */
async function startApi(): Promise<string> {
  const api = express();
  api.use('/wallet', async (request, response) => {
    const [, token = ''] = /^DPoP +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const check = await provider.ostiary.tokens.verify(token, { request, origin });
    response.status(check.active ? 200 : 401).json(check);
  });
  const origin = await serve(api);
  return origin;
}

const api = await startApi();

async function configurationOf({ id, secret }: TestClient): Promise<client.Configuration> {
  const auth = secret === null ? client.None() : client.ClientSecretBasic(secret);
  return client.discovery(new URL(provider.origin), id, {}, auth, {
    execute: [client.allowInsecureRequests],
  });
}

/**
 * Signs a user in with a DPoP key at the token endpoint, and with `dpop_jkt` in `more` also at the
 * authorization request.
 */
async function signIn(
  config: client.Configuration,
  app: TestClient,
  handle: client.DPoPHandle,
  more: Record<string, string>,
) {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    ...{ redirect_uri: app.redirectUri, scope, state, ...more },
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const { location } = await provider.follow(provider.browser(), url.href);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  return client.authorizationCodeGrant(config, new URL(location ?? ''), checks, undefined, { DPoP: handle });
}

it.for([
  ['ES256', false],
  ['ES256', true],
  ['PS256', true],
  ['Ed25519', false],
] as const)(
  'openid-client signs in, reads userinfo, calls an API and refreshes, with %s, public %s',
  async ([alg, isPublic]) => {
    const app = await provider.client({ allowedScopes, public: isPublic, requireDpop: true });
    const config = await configurationOf(app);
    const handle = client.getDPoPHandle(config, await client.randomDPoPKeyPair(alg));
    const tokens = await signIn(config, app, handle, { dpop_jkt: await handle.calculateThumbprint() });
    expect(tokens.token_type).toBe('dpop');
    const options = { DPoP: handle };
    for (let call = 0; call < 2; call += 1)
      expect(await client.fetchUserInfo(config, tokens.access_token, ana.sub, options)).toMatchObject({
        handle: 'ana',
      });
    const address = new URL(`${api}/wallet/balance?page=2`);
    const wallet = (token: string, given?: client.DPoPOptions) =>
      client.fetchProtectedResource(config, token, address, 'GET', null, new Headers(), given);
    expect(await (await wallet(tokens.access_token, options)).json()).toMatchObject({
      active: true,
      sub: ana.sub,
    });

    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', {}, options);
    expect(await (await wallet(next.access_token, options)).json()).toMatchObject({
      active: true,
      sub: ana.sub,
    });
    await expect(client.fetchUserInfo(config, next.access_token, ana.sub)).rejects.toMatchObject({
      status: 401,
    });
    await expect(client.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_dpop_proof',
    });
    const thief = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'));
    await expect(
      client.fetchUserInfo(config, next.access_token, ana.sub, { DPoP: thief }),
    ).rejects.toMatchObject({ status: 401 });
  },
);

it('openid-client binds a code with the proof of its pushed request', async () => {
  const app = await provider.client({ allowedScopes, public: true });
  const config = await configurationOf(app);
  const keys = await client.randomDPoPKeyPair('ES256');
  const verifier = client.randomPKCECodeVerifier();
  const parameters = {
    ...{ redirect_uri: app.redirectUri, scope, code_challenge_method: 'S256' },
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
  };
  const pushed = async (more = {}) =>
    client.buildAuthorizationUrlWithPAR(
      config,
      { ...parameters, ...more },
      { DPoP: client.getDPoPHandle(config, keys) },
    );
  const finish = async (url: URL, by: client.CryptoKeyPair) => {
    const { location } = await provider.follow(provider.browser(), url.href);
    const DPoP = client.getDPoPHandle(config, by);
    const checks = { pkceCodeVerifier: verifier };
    return client.authorizationCodeGrant(config, new URL(location ?? ''), checks, undefined, { DPoP });
  };
  const thief = await client.randomDPoPKeyPair('ES256');
  await expect(finish(await pushed(), thief)).rejects.toMatchObject({ error: 'invalid_grant' });
  expect((await finish(await pushed(), keys)).token_type).toBe('dpop');
  const other = await client.getDPoPHandle(config, thief).calculateThumbprint();
  await expect(pushed({ dpop_jkt: other })).rejects.toMatchObject({ error: 'invalid_dpop_proof' });
});

it('oauth4webapi signs in and reads userinfo', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(provider.origin);
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
  );
  expect(as.dpop_signing_alg_values_supported).toContain('ES256');
  const app = await provider.client({ requireDpop: true });
  const self: oauth.Client = { client_id: app.id };
  const DPoP = oauth.DPoP(self, await oauth.generateKeyPair('ES256'));
  const verifier = oauth.generateRandomCodeVerifier();
  const callback = await provider.authorize(app, {
    scope: 'openid profile',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    dpop_jkt: await DPoP.calculateThumbprint(),
  });
  const parameters = oauth.validateAuthResponse(as, self, callback, 'a state');
  const auth = oauth.ClientSecretPost(app.secret ?? '');
  const response = await oauth.authorizationCodeGrantRequest(
    ...([as, self, auth, parameters, app.redirectUri, verifier] as const),
    { ...insecure, DPoP },
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, self, response);
  expect(tokens.token_type).toBe('dpop');
  const userinfo = await oauth.userInfoRequest(as, self, tokens.access_token, { ...insecure, DPoP });
  expect(await oauth.processUserInfoResponse(as, self, ana.sub, userinfo)).toMatchObject({ sub: ana.sub });
});
