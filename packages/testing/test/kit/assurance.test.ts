import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { TestClient, TestOstiary } from '../../src/index.ts';
import { createTestOstiary } from '../../src/index.ts';
import { type Json, newKit } from './support.ts';

/** Exchanges the code of an authorization request. Returns the claims of the ID token. */
async function claimsOf(
  kit: TestOstiary,
  client: TestClient,
  options: Parameters<TestOstiary['authorize']>[1],
) {
  const { code, codeVerifier } = await kit.authorize(client, options);
  const response = await kit.fetch(`${kit.baseUrl}/v1/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ grant_type: 'authorization_code', code, code_verifier: codeVerifier },
      ...{ redirect_uri: client.redirectUri, client_id: client.clientId },
    }),
  });
  const { id_token: idToken } = (await response.json()) as Json;
  return decodeJwt(String(idToken));
}

describe('how a user signed in', () => {
  const [gold, silver] = ['urn:example:gold', 'urn:example:silver'];
  const asking = (acr: string) => ({ scopes: ['openid'], parameters: { acr_values: acr } });

  it('is in the ID token where the test says so', async () => {
    const kit = await newKit();
    const { app } = kit.clients;
    const signedIn = { acr: silver, amr: ['pwd', 'otp'] };
    expect(await claimsOf(kit, app, { scopes: ['openid'], signedIn })).toMatchObject(signedIn);
    const claims = await claimsOf(kit, app, { scopes: ['openid'] });
    expect(claims).not.toHaveProperty('acr');
    expect(claims).not.toHaveProperty('amr');
    const browser = kit.signIn(kit.user, { acr: silver });
    const callback = await browser.approve(kit.authorizeUrl(kit.clients.web, { scopes: ['openid'] }));
    expect(callback.searchParams.get('code')).not.toBeNull();
  });

  it('steps up to the class that an app requests, where the login page has it', async () => {
    const kit = await newKit({ acrValues: [gold], claimsParameter: true });
    const { app } = kit.clients;
    expect(
      await claimsOf(kit, app, { ...asking(gold), signedIn: { acr: silver, amr: ['pwd'] } }),
    ).toMatchObject({ acr: gold, amr: ['pwd'] });
    expect(await claimsOf(kit, app, { ...asking('other'), signedIn: { acr: silver } })).toMatchObject({
      acr: silver,
    });
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'other' } } });
    const refused = await kit.authorize(app, { scopes: ['openid'], parameters: { claims } });
    expect(refused.callback.searchParams.get('error')).toBe('unmet_authentication_requirements');
  });
});

describe('documents that clients publish', () => {
  it('keys at a jwksUri come from the code of the test, and are cached by the clock of the kit', async () => {
    const kit = await newKit({ privateKeyJwt: true });
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const key = { ...(await exportJWK(publicKey)), kid: 'key-1' };
    let served: () => Response = () => Response.json({ keys: [key] });
    let reads = 0;
    const jwksUri = 'https://app.example/jwks';
    kit.webhooks.receive(jwksUri, () => {
      reads += 1;
      return served();
    });
    const client = await kit.clients.create({ jwksUri });
    expect(client.clientSecret).toBeNull();
    const exchange = async () => {
      const { code, codeVerifier } = await kit.authorize(client, { scopes: ['openid'] });
      const seconds = Math.floor(kit.clock.now() / 1000);
      const assertion = await new SignJWT({ jti: crypto.randomUUID(), iat: seconds, exp: seconds + 60 })
        .setProtectedHeader({ alg: 'ES256', kid: 'key-1' })
        .setIssuer(client.clientId)
        .setSubject(client.clientId)
        .setAudience(kit.authUrl)
        .sign(privateKey);
      const response = await kit.fetch(`${kit.baseUrl}/v1/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ grant_type: 'authorization_code', code, code_verifier: codeVerifier },
          ...{ redirect_uri: client.redirectUri, client_assertion: assertion },
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        }),
      });
      return response.status;
    };
    expect([await exchange(), await exchange(), reads]).toEqual([200, 200, 1]);
    for (const answer of [
      () => new Response('gone', { status: 404 }),
      () => new Response('{"keys":[]}', { headers: { 'content-type': 'text/html' } }),
      () => Promise.reject(new Error('broken')) as never,
    ]) {
      served = answer;
      await kit.clock.advance('61m');
      expect(await exchange()).toBe(503);
    }
  });

  it('an app that describes itself signs a user in', async () => {
    await using kit = await createTestOstiary({ clientMetadataDocuments: { scopes: ['openid'] } });
    const clientId = 'https://assistant.example/client.json';
    kit.webhooks.receive(clientId, () =>
      Response.json({
        ...{ client_id: clientId, client_name: 'Assistant', token_endpoint_auth_method: 'none' },
        redirect_uris: ['http://127.0.0.1/callback'],
      }),
    );
    const client = { clientId, clientSecret: null, redirectUri: 'http://127.0.0.1:40000/callback' };
    expect(await claimsOf(kit, client, { scopes: ['openid'] })).toMatchObject({ sub: kit.user.sub });
  });
});
