import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { TestClient, TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const day = 24 * 3_600_000;
const atOnce = { activateAfterSeconds: 0 };

/**
 * Starts a provider, and returns functions for its signing keys. Its clock advances by a millisecond, so that
 * later keys are newer than the keys of the start.
 */
async function signer(...given: Parameters<typeof startProvider>) {
  const provider = await startProvider(...given);
  provider.clock.advance(1);
  return { provider, client: await provider.client(), ...keysOf(provider) };
}

function keysOf(provider: TestProvider) {
  const published = async () =>
    (await provider.request('/.well-known/jwks.json')).json() as unknown as JSONWebKeySet;
  const idToken = async (client: TestClient) =>
    String((await provider.exchange(client, await provider.code(client))).json().id_token);
  return {
    published,
    idToken,
    publishedIds: async (alg = 'RS256') =>
      (await published()).keys.filter((key) => key.alg === alg).map(({ kid }) => kid),
    signedWith: async (client: TestClient) => decodeProtectedHeader(await idToken(client)).kid,
    /** Checks whether the signature of an ID token verifies with the published keys. */
    verifies: async (token: string) =>
      jwtVerify(token, createLocalJWKSet(await published()), {
        currentDate: new Date(provider.clock.now()),
      }).then(
        () => true,
        () => false,
      ),
    rotate: provider.ostiary.admin.signingKeys.rotate,
  };
}

describe('the rotation of a signing key', () => {
  it('publishes the new key at once, signs with it after the delay, and keeps the old one for a day after that', async () => {
    const storage = memoryStorage();
    const { provider, client, rotate, publishedIds, signedWith, idToken, verifies } = await signer({
      storage,
    });
    const [old] = await publishedIds();
    const next = await rotate();
    const activeFrom = new Date(provider.clock.now() + 600_000).toISOString();
    expect(next).toMatchObject({ alg: 'RS256', signing: false, activeFrom });
    expect(await publishedIds()).toEqual([old, next.kid]);
    provider.clock.advance(599_999);
    expect(await signedWith(client)).toBe(old);
    const before = await idToken(client);
    provider.clock.advance(1);
    expect(await signedWith(client)).toBe(next.kid);
    // ID tokens of the old key verify until they expire.
    provider.clock.advance(3_599_000);
    expect(await verifies(before)).toBe(true);
    provider.clock.advance(day - 3_599_000 - 1);
    expect(await publishedIds()).toEqual([old, next.kid]);
    provider.clock.advance(1);
    expect(await publishedIds()).toEqual([next.kid]);
    expect(await signedWith(client)).toBe(next.kid);
    // The private part of an unpublished key is deleted at the next rotation, the public one after a year.
    const stored = async () => (await storage.signingKeys.list()).find(({ kid }) => kid === old);
    expect((await stored())?.sealedPrivateJwk).toMatch(/^v1\./);
    await rotate();
    expect(await stored()).toMatchObject({ kid: old, sealedPrivateJwk: null });
    expect(await publishedIds()).not.toContain(old);
    provider.clock.advance(364 * day - 1);
    await rotate();
    expect(await stored()).toMatchObject({ kid: old, sealedPrivateJwk: null });
    provider.clock.advance(1);
    await rotate();
    expect(await stored()).toBeUndefined();
  });

  it('works in an emergency, at once, and concerns one algorithm', async () => {
    const { provider, client, rotate, signedWith, idToken, verifies } = await signer();
    const elliptic = await provider.client({ idTokenAlg: 'ES256' });
    const before = await signedWith(elliptic);
    const next = await rotate(atOnce);
    expect(next.signing).toBe(true);
    expect([await signedWith(client), await signedWith(elliptic)]).toEqual([next.kid, before]);
    const other = await rotate({ alg: 'ES256', ...atOnce });
    expect([await signedWith(client), await signedWith(elliptic)]).toEqual([next.kid, other.kid]);
    expect(await verifies(await idToken(elliptic))).toBe(true);
  });

  it('refuses what is no algorithm and no delay', async () => {
    const { rotate, published } = await signer();
    for (const seconds of [-1, 1.5, 30 * 86_400 + 1, Number.NaN])
      await expect(rotate({ activateAfterSeconds: seconds })).rejects.toThrow(TypeError);
    await expect(rotate({ alg: 'HS256' } as object)).rejects.toThrow(TypeError);
    expect((await published()).keys).toHaveLength(2);
  });

  it('is listed, with what signs now', async () => {
    const { provider, rotate } = await signer();
    const next = await rotate({ alg: 'ES256' });
    const listed = async () => provider.ostiary.admin.signingKeys.list();
    expect((await listed()).map(({ alg, signing }) => `${alg} ${signing}`).sort()).toEqual([
      ...['ES256 false', 'ES256 true', 'RS256 true'],
    ]);
    provider.clock.advance(600_000);
    expect((await listed()).find(({ kid }) => kid === next.kid)?.signing).toBe(true);
    expect(Object.keys(next)).toEqual(['kid', 'alg', 'createdAt', 'activeFrom', 'signing']);
  });
});

describe('two providers on one storage', () => {
  const shared = () => ({
    storage: memoryStorage(),
    sealingKeys: [randomBytes(32)],
    authUrl: 'https://id.example',
  });

  it('begin with the same keys, also when they start together on an empty storage', async () => {
    const options = shared();
    const [one, two] = (await Promise.all([startProvider(options), startProvider(options)])).map(keysOf);
    expect(await one?.published()).toEqual(await two?.published());
    expect((await one?.published())?.keys).toHaveLength(2);
  });

  it('both know a new key five seconds later, long before it signs', async () => {
    const options = shared();
    const { provider, client, rotate, ...first } = await signer(options);
    const second = await signer({ ...options, clock: provider.clock }, provider.host);
    await second.publishedIds();
    const next = await rotate();
    expect(await first.publishedIds()).toContain(next.kid);
    provider.clock.advance(5_000);
    expect(await second.publishedIds()).toContain(next.kid);
    provider.clock.advance(600_000);
    expect([await first.signedWith(client), await second.signedWith(client)]).toEqual([next.kid, next.kid]);
  });
});
