import { createHash } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { scopeNames } from '../../src/index.ts';
import { ana } from '../support/directory.ts';
import type { TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const tokens = provider.tokens.bind(provider);

async function verified(idToken: unknown, client: TestClient) {
  const keys = JSON.parse((await provider.request('/.well-known/jwks.json')).text);
  const expected = {
    issuer: provider.origin,
    audience: client.id,
    currentDate: new Date(provider.clock.now()),
  };
  return jwtVerify(String(idToken), createLocalJWKSet(keys), expected);
}

describe.each(['RS256', 'ES256'] as const)('an ID token signed with %s', (idTokenAlg) => {
  it('has exactly the claims that say who signed in, when and for whom', async () => {
    const client = await provider.client({ idTokenAlg });
    const browser = provider.browser();
    provider.signIn(browser, ana.sub, 123_456);
    const answer = await tokens(client, { scope: scopeNames.join(' '), nonce: 'a nonce &ü' }, browser);
    const { payload, protectedHeader } = await verified(answer.id_token, client);
    const now = Math.floor(provider.clock.now() / 1000);
    const digest = createHash('sha256').update(String(answer.access_token)).digest();
    expect(payload).toEqual({
      iss: provider.origin,
      sub: ana.sub,
      aud: client.id,
      iat: now,
      exp: now + 3600,
      auth_time: Math.floor((provider.clock.now() - 123_456) / 1000),
      nonce: 'a nonce &ü',
      at_hash: digest.subarray(0, 16).toString('base64url'),
      sid: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(protectedHeader).toEqual({ alg: idTokenAlg, kid: expect.any(String), typ: 'JWT' });
  });
});

describe('an ID token', () => {
  it('is RS256 unless the client says otherwise, follows its change at once, and has no nonce of its own', async () => {
    const client = await provider.client();
    const first = await verified((await tokens(client)).id_token, client);
    expect(first.protectedHeader.alg).toBe('RS256');
    expect(first.payload).not.toHaveProperty('nonce');
    await provider.ostiary.admin.clients.update(client.id, { idTokenAlg: 'ES256' });
    const changed = await verified((await tokens(client)).id_token, client);
    expect(changed.protectedHeader.alg).toBe('ES256');
  });

  it('carries nonces of up to 4096 bytes', async () => {
    const client = await provider.client();
    const nonce = `${'é'.repeat(2047)}xy`;
    expect(Buffer.byteLength(nonce)).toBe(4096);
    expect(decodeJwt(String((await tokens(client, { nonce })).id_token)).nonce).toBe(nonce);
    const refused = await provider.authorize(client, { nonce: `${nonce}z` });
    expect([refused.get('error'), refused.get('state')]).toEqual(['invalid_request', 'a state']);
  });

  it('contains the auth_time of the sign-in at the approval, not of an earlier one', async () => {
    const client = await provider.client();
    const browser = provider.browser();
    await provider.code(client, {}, browser);
    provider.clock.advance(60_000);
    provider.signIn(browser, ana.sub);
    const { auth_time } = decodeJwt(String((await tokens(client, {}, browser)).id_token));
    expect(auth_time).toBe(Math.floor(provider.clock.now() / 1000));
  });
});
