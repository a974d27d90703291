import { type ProtectedResource, protectedResource } from '@ostiary/core/resource-server';
import * as oauth from 'oauth4webapi';
import { expect, it } from 'vitest';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { serve, startProvider } from '../../../packages/core/test/support/running.ts';

/** Option of oauth4webapi that allows plain HTTP, which apps do not need. */
const insecure = { [oauth.allowInsecureRequests]: true };

let tools: ProtectedResource<string>;
const origin = await serve(async (request, response) => {
  const access = await tools.check(request);
  if (!access.active) return response.writeHead(access.status, access.headers).end(access.body);
  return response.end(`${request.method} ${access.sub}`);
});
const resource = `${origin}/mcp`;
const provider = await startProvider({
  ...{ dpop: true, introspection: true },
  resources: { [resource]: { name: 'Tools', scopes: [] } },
});
const api = await provider.client({ resourceServer: true, redirectUris: [], allowedScopes: [] });
tools = protectedResource({
  ...{ resource, clock: provider.clock, dpop: true },
  remote: {
    issuer: provider.origin,
    introspectionEndpoint: `${provider.origin}/v1/oauth/introspect`,
    ...{ clientId: api.id, clientSecret: api.secret ?? '' },
  },
});

it('oauth4webapi calls an API in another process with a token that is bound to a key', async () => {
  const issuer = new URL(provider.origin);
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const as = await oauth.processDiscoveryResponse(issuer, found);
  const app = await provider.client({ requireDpop: true });
  const me: oauth.Client = { client_id: app.id };
  const DPoP = oauth.DPoP(me, await oauth.generateKeyPair('ES256'));
  const verifier = oauth.generateRandomCodeVerifier();
  const callback = await provider.authorize(app, {
    resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const parameters = oauth.validateAuthResponse(as, me, callback, 'a state');
  const auth = oauth.ClientSecretPost(app.secret ?? '');
  const response = await oauth.authorizationCodeGrantRequest(
    ...([as, me, auth, parameters, app.redirectUri, verifier] as const),
    { ...insecure, DPoP, additionalParameters: { resource } },
  );
  const { access_token: token } = await oauth.processAuthorizationCodeResponse(as, me, response);

  const call = async (method: string, path: string, proof?: oauth.DPoPHandle): Promise<string> => {
    const options = { ...insecure, ...(proof && { DPoP: proof }) };
    const request = [token, method, new URL(resource + path), undefined, undefined, options] as const;
    try {
      return await (await oauth.protectedResourceRequest(...request)).text();
    } catch (error) {
      if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
      const [challenge] = error.cause;
      return `${error.status} ${challenge?.scheme} ${challenge?.parameters.error}`;
    }
  };
  for (const path of ['', '?page=2', '/files']) {
    expect(await call('GET', path, DPoP)).toBe(`GET ${ana.sub}`);
    expect(await call('POST', path, DPoP)).toBe(`POST ${ana.sub}`);
  }
  expect(await call('GET', '')).toBe('401 dpop invalid_dpop_proof');
  const thief = oauth.DPoP(me, await oauth.generateKeyPair('ES256'));
  expect(await call('GET', '', thief)).toBe('401 dpop invalid_dpop_proof');
});
