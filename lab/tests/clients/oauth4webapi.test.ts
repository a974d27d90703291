import * as oauth from 'oauth4webapi';
import { expect, it } from 'vitest';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';

/** Option of oauth4webapi that allows plain HTTP, which apps do not need. */
const insecure = { [oauth.allowInsecureRequests]: true };

const provider = await startProvider();

it.each(['oidc', 'oauth2'] as const)('completes the flow after %s discovery', async (algorithm) => {
  const issuer = new URL(provider.origin);
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm, ...insecure }),
  );
  const app = await provider.client();
  const client: oauth.Client = { client_id: app.id };
  const verifier = oauth.generateRandomCodeVerifier();
  const nonce = oauth.generateRandomNonce();
  const callback = await provider.authorize(app, {
    scope: 'openid wallet:balance',
    state: 'st',
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const parameters = oauth.validateAuthResponse(as, client, callback, 'st');
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    oauth.ClientSecretBasic(app.secret ?? ''),
    parameters,
    app.redirectUri,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(as, response, insecure);
  expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(ana.sub);

  const userinfo = await oauth.processUserInfoResponse(
    as,
    client,
    ana.sub,
    await oauth.userInfoRequest(as, client, tokens.access_token, insecure),
  );
  expect(userinfo).toMatchObject({ sub: ana.sub, htgBalance: '1250.00', usdBalance: '80.50' });

  const revoked = await oauth.revocationRequest(as, client, oauth.None(), tokens.access_token, insecure);
  await oauth.processRevocationResponse(revoked);
  expect((await provider.userinfo(tokens.access_token)).status).toBe(401);
});

it('reads claims that it asked for in the ID token, and the error of a class that the user cannot meet', async () => {
  const at = await startProvider({ claimsParameter: true });
  const issuer = new URL(at.origin);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const app = await at.client();
  const client: oauth.Client = { client_id: app.id };
  const asking = (id_token: object) => ({ scope: 'openid profile', claims: JSON.stringify({ id_token }) });
  const callback = await at.authorize(app, asking({ name: null, kycTier: null }));
  const response = await oauth.authorizationCodeGrantRequest(
    ...([as, client, oauth.ClientSecretPost(app.secret ?? '')] as const),
    ...([
      oauth.validateAuthResponse(as, client, callback, 'a state'),
      app.redirectUri,
      oauth.nopkce,
      insecure,
    ] as const),
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response);
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  expect([claims?.name, claims?.kycTier]).toEqual([ana.name, undefined]);

  const browser = at.browser(null);
  const essential = asking({ acr: { essential: true, value: 'urn:example:gold' } });
  const { callback: atLogin } = await at.follow(browser, at.authorizeUrl(app, essential));
  at.clock.advance(1_000);
  at.signIn(browser, ana.sub);
  const refused = await at.follow(browser, atLogin.get('return_to') ?? '');
  expect(() => oauth.validateAuthResponse(as, client, refused.callback, 'a state')).toThrow(
    expect.objectContaining({ error: 'unmet_authentication_requirements' }),
  );
});

it('refreshes as a public client', async () => {
  const at = await startProvider({ refreshTokens: {} });
  const issuer = new URL(at.origin);
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure });
  const as = await oauth.processDiscoveryResponse(issuer, found);
  const app = await at.client({ public: true, allowedScopes: ['openid', 'offline_access'] });
  const client: oauth.Client = { client_id: app.id };
  const { refresh_token } = await at.tokens(app, { scope: 'openid offline_access' });
  const refresh = (token: string) =>
    oauth.refreshTokenGrantRequest(as, client, oauth.None(), token, insecure);
  const tokens = await oauth.processRefreshTokenResponse(as, client, await refresh(String(refresh_token)));
  expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(ana.sub);
  expect(await refresh(tokens.refresh_token ?? '')).toMatchObject({ status: 200 });
  // Reuse of the first refresh token ends the sign-in.
  expect(await refresh(String(refresh_token))).toMatchObject({ status: 400 });
  expect((await at.userinfo(tokens.access_token)).status).toBe(401);
});
