import type { ProtectedResource } from '@ostiary/core';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { expect, it } from 'vitest';
import { type HostScopes, scopeNames } from '../../../packages/core/src/index.ts';
import { serve, startProvider } from '../../../packages/core/test/support/running.ts';

/** Option of oauth4webapi that allows plain HTTP, which apps do not need. */
const insecure = { [oauth.allowInsecureRequests]: true };

const consent = {
  en: { title: 'Use tools', detail: 'In your name.' },
  fr: { title: 'Se servir d’outils', detail: 'En votre nom.' },
};
const scopes: HostScopes = { 'tools:run': { consent }, 'tools:edit': { consent }, 'wallet:pay': { consent } };

let tools: ProtectedResource;
const origin = await serve(async (request, response) => {
  const document = tools.metadataAnswer(request);
  if (document !== null) return response.writeHead(document.status, document.headers).end(document.body);
  const needed = request.url === '/mcp/edit' ? ['tools:edit'] : [];
  const access = await tools.check(request, { scopes: needed });
  if (!access.active) return response.writeHead(access.status, access.headers).end(access.body);
  return response.end(access.sub);
});
const [resource, wallet] = [`${origin}/mcp`, `${origin}/wallet`];
const provider = await startProvider({
  ...{ scopes, refreshTokens: {}, introspection: true },
  resources: {
    [resource]: { name: 'Tools', scopes: ['tools:run', 'tools:edit'] },
    [wallet]: { name: 'Wallet', scopes: ['wallet:pay'] },
  },
});
tools = provider.ostiary.protectedResource({ resource, scopes: ['tools:run'] });
const allowedScopes = [...scopeNames, ...Object.keys(scopes), 'offline_access'];

it('oauth4webapi finds its way from a challenge to a token, and steps up', async () => {
  const app = await provider.client({ public: true, allowedScopes });
  const me: oauth.Client = { client_id: app.id };

  /**
   * Follows the challenge of a protected resource as RFC 9728, section 5, says, and returns a token with the
   * scopes that the challenge names.
   */
  async function tokenAfter(challenge: oauth.WWWAuthenticateChallenge | undefined): Promise<string> {
    const { scope = '', resource_metadata: metadataUrl = '' } = challenge?.parameters ?? {};
    const url = new URL(resource);
    expect(metadataUrl).toBe(`${origin}/.well-known/oauth-protected-resource/mcp`);
    const metadata = await oauth.processResourceDiscoveryResponse(
      url,
      await oauth.resourceDiscoveryRequest(url, insecure),
    );
    const issuer = new URL(metadata.authorization_servers?.[0] ?? '');
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const as = await oauth.processDiscoveryResponse(issuer, found);
    const verifier = oauth.generateRandomCodeVerifier();
    const callback = await provider.authorize(app, {
      scope,
      resource: metadata.resource,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const response = await oauth.authorizationCodeGrantRequest(
      ...([as, me, oauth.None(), oauth.validateAuthResponse(as, me, callback, 'a state')] as const),
      ...([app.redirectUri, verifier] as const),
      { ...insecure, additionalParameters: { resource: metadata.resource } },
    );
    return (await oauth.processAuthorizationCodeResponse(as, me, response)).access_token;
  }

  /** Calls the API, and returns the API's response or its challenge. */
  async function call(token: string, path: string) {
    try {
      const request = [token, 'GET', new URL(origin + path)] as const;
      return await (await oauth.protectedResourceRequest(...request, undefined, undefined, insecure)).text();
    } catch (error) {
      if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
      const [challenge] = error.cause;
      return { status: error.status, challenge };
    }
  }

  const first = await call('none', '/mcp');
  if (typeof first === 'string') throw new Error('the call was answered');
  expect([first.status, first.challenge?.parameters]).toMatchObject([
    401,
    { error: 'invalid_token', scope: 'tools:run' },
  ]);
  const token = await tokenAfter(first.challenge);
  expect(await call(token, '/mcp')).toBe('user-ana');

  const refused = await call(token, '/mcp/edit');
  if (typeof refused === 'string') throw new Error('the call was answered');
  expect([refused.status, refused.challenge?.parameters]).toMatchObject([
    403,
    { error: 'insufficient_scope', scope: 'tools:run tools:edit' },
  ]);
  const wider = await tokenAfter(refused.challenge);
  for (const path of ['/mcp', '/mcp/edit']) expect(await call(wider, path)).toBe('user-ana');
});

it('openid-client requests two resources, and a token for each of them', async () => {
  const app = await provider.client({ allowedScopes });
  const auth = client.ClientSecretBasic(app.secret ?? '');
  const config = await client.discovery(new URL(provider.origin), app.id, {}, auth, {
    execute: [client.allowInsecureRequests],
  });
  const verifier = client.randomPKCECodeVerifier();
  const parameters = new URLSearchParams({
    redirect_uri: app.redirectUri,
    scope: 'openid tools:run wallet:pay offline_access',
    state: 'st',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  for (const uri of [resource, wallet]) parameters.append('resource', uri);
  const url = client.buildAuthorizationUrl(config, parameters);
  const { location } = await provider.follow(provider.browser(), url.href);
  const checks = { pkceCodeVerifier: verifier, expectedState: 'st', idTokenExpected: true };
  const tokens = await client.authorizationCodeGrant(config, new URL(location ?? ''), checks, {
    resource,
  });
  expect(tokens.scope).toBe('openid tools:run offline_access');
  const called = await client.fetchProtectedResource(config, tokens.access_token, new URL(resource), 'GET');
  expect(await called.text()).toBe('user-ana');

  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', { resource: wallet });
  expect(refreshed.scope).toBe('openid wallet:pay offline_access');
  await expect(
    client.fetchProtectedResource(config, refreshed.access_token, new URL(resource), 'GET'),
  ).rejects.toMatchObject({ code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 });
  await expect(
    client.refreshTokenGrant(config, refreshed.refresh_token ?? '', { resource: 'https://other.example' }),
  ).rejects.toMatchObject({ error: 'invalid_target' });

  const server = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
  const asServer = await client.discovery(
    ...([new URL(provider.origin), server.id, {}, client.ClientSecretBasic(server.secret ?? '')] as const),
    { execute: [client.allowInsecureRequests] },
  );
  expect(await client.tokenIntrospection(asServer, refreshed.access_token)).toMatchObject({ aud: wallet });
});
