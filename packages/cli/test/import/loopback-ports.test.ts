import { describe, expect, it } from 'vitest';
import { hydraClient, keycloakClientOf } from './samples.ts';
import { installation } from './support.ts';

const options = { verifyImportedSecret: () => true, refreshTokens: {} };

const hydraApp = {
  ...hydraClient,
  client_id: 'desktop',
  token_endpoint_auth_method: 'none',
  redirect_uris: ['http://127.0.0.1/cb'],
};

const keycloakApp = (redirectUri: string, changes: object = {}) =>
  keycloakClientOf('desktop', {
    publicClient: true,
    secret: undefined,
    redirectUris: [redirectUri],
    ...changes,
  });

/** Starts a sign-in of the imported app, which listens on a port that no file names. Returns the status. */
async function signIn(from: string, client: object, redirectUri: string) {
  const { provider, run } = await installation(options);
  const { code, out } = await run(from, from === 'hydra' ? [client] : { clients: [client] });
  const query = new URLSearchParams({
    ...{ client_id: 'desktop', redirect_uri: redirectUri, response_type: 'code', scope: 'openid' },
    ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
  });
  const answer = await fetch(`${provider.origin}/oauth/authorize?${query}`, { redirect: 'manual' });
  return { code, out, status: answer.status };
}

describe('an imported app of the user’s device', () => {
  it.each([
    ['hydra', hydraApp, 'http://127.0.0.1:51004/cb'],
    ['hydra', { ...hydraApp, redirect_uris: ['http://[::1]:8080/cb'] }, 'http://[::1]:51004/cb'],
    ['keycloak', keycloakApp('http://127.0.0.1/cb'), 'http://127.0.0.1:51004/cb'],
    ['keycloak', keycloakApp('http://localhost/cb'), 'http://localhost:51004/cb'],
  ])('of %s keeps any port of its loopback address', async (from, client, redirectUri) => {
    expect(await signIn(from, client, redirectUri)).toMatchObject({ code: 0, status: 303 });
  });

  it.each([
    ['hydra', { ...hydraApp, redirect_uris: ['http://localhost/cb'] }, 'http://localhost:51004/cb'],
    ['keycloak', keycloakApp('http://localhost:3000/cb'), 'http://localhost:51004/cb'],
    ['keycloak', keycloakApp('https://a.example/cb'), 'https://a.example:51004/cb'],
  ])('of %s gets no port that it did not have', async (from, client, redirectUri) => {
    expect(await signIn(from, client, redirectUri)).toMatchObject({ code: 0, status: 400 });
  });

  it.each([
    ['hydra', { ...hydraApp, redirect_uris: ['http://127.0.0.1/cb', 'http://localhost:3000/cb'] }],
    ['keycloak', keycloakApp('', { redirectUris: ['http://127.0.0.1/cb', 'http://localhost:3000/cb'] })],
  ])(
    'of %s gets no other port of an address that has a fixed one, and the import says so',
    async (from, client) => {
      const { out, status } = await signIn(from, client, 'http://localhost:51004/cb');
      expect(status).toBe(400);
      expect(out).toContain('other ports of its loopback addresses');
    },
  );

  it('says what a confidential client loses', async () => {
    const { run } = await installation(options);
    const client = keycloakApp('http://localhost/cb', { publicClient: false, secret: 's'.repeat(32) });
    const { out } = await run('keycloak', { clients: [client] });
    expect(out).toMatch(/desktop +created +without .*other ports of its loopback addresses/);
  });
});
