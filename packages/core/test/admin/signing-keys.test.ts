import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { answerConsent, openConsent } from '../support/consent-form.ts';
import { type TestClient, TestProvider } from '../support/provider.ts';

const running: TestProvider[] = [];
afterEach(() => Promise.all(running.splice(0).map((provider) => provider.stop())));

async function start(...given: Parameters<typeof TestProvider.start>): Promise<TestProvider> {
  const provider = await TestProvider.start(...given);
  running.push(provider);
  return provider;
}

const day = 24 * 3_600_000;

async function published(provider: TestProvider): Promise<JSONWebKeySet> {
  return (await provider.request('/.well-known/jwks.json')).json() as unknown as JSONWebKeySet;
}

async function publishedIds(provider: TestProvider, alg = 'RS256'): Promise<unknown[]> {
  return (await published(provider)).keys.filter((key) => key.alg === alg).map((key) => key.kid);
}

async function idToken(provider: TestProvider, client: TestClient): Promise<string> {
  return String((await provider.exchange(client, await provider.code(client))).json().id_token);
}

const signedWith = async (provider: TestProvider, client: TestClient) =>
  decodeProtectedHeader(await idToken(provider, client)).kid;

const verifies = (token: string, keys: JSONWebKeySet, now: number) =>
  jwtVerify(token, createLocalJWKSet(keys), { currentDate: new Date(now) }).then(
    () => true,
    () => false,
  );

describe('the rotation of a signing key', () => {
  it('publishes the new key at once, signs with it after the delay, and keeps the old one for a day after that', async () => {
    const provider = await start();
    const client = await provider.client();
    const [old] = await publishedIds(provider);
    provider.clock.advance(1_000);
    const next = await provider.ostiary.admin.signingKeys.rotate();
    expect(next).toMatchObject({
      alg: 'RS256',
      signing: false,
      activeFrom: new Date(provider.clock.now() + 600_000).toISOString(),
    });
    expect(await publishedIds(provider)).toEqual([old, next.kid]);

    provider.clock.advance(599_999);
    expect(await signedWith(provider, client)).toBe(old);
    const before = await idToken(provider, client);
    provider.clock.advance(1);
    expect(await signedWith(provider, client)).toBe(next.kid);
    // The ID tokens of the old key verify as long as they live.
    provider.clock.advance(3_599_000);
    expect(await verifies(before, await published(provider), provider.clock.now())).toBe(true);
    provider.clock.advance(day - 3_599_000 - 1);
    expect(await publishedIds(provider)).toEqual([old, next.kid]);
    provider.clock.advance(1);
    expect(await publishedIds(provider)).toEqual([next.kid]);
    expect(await signedWith(provider, client)).toBe(next.kid);
  });

  it('removes keys for good that are no longer published, with the next rotation', async () => {
    const storage = memoryStorage();
    const provider = await start({ storage });
    const [old] = await publishedIds(provider);
    await provider.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 1 });
    provider.clock.advance(1_000 + day);
    expect((await storage.signingKeys.list()).map((key) => key.kid)).toContain(old);
    await provider.ostiary.admin.signingKeys.rotate();
    const left = (await storage.signingKeys.list()).map((key) => key.kid);
    expect(left).not.toContain(old);
    expect(left).toHaveLength(3);
  });

  it('works in an emergency, at once', async () => {
    const provider = await start();
    const client = await provider.client();
    provider.clock.advance(1);
    const next = await provider.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 0 });
    expect(next.signing).toBe(true);
    expect(await signedWith(provider, client)).toBe(next.kid);
  });

  it('concerns one algorithm', async () => {
    const provider = await start();
    const client = await provider.client({ idTokenAlg: 'ES256' });
    const before = await signedWith(provider, client);
    provider.clock.advance(1);
    await provider.ostiary.admin.signingKeys.rotate({ alg: 'RS256', activateAfterSeconds: 0 });
    expect(await signedWith(provider, client)).toBe(before);
    const next = await provider.ostiary.admin.signingKeys.rotate({ alg: 'ES256', activateAfterSeconds: 0 });
    expect(await signedWith(provider, client)).toBe(next.kid);
    const token = await idToken(provider, client);
    expect(await verifies(token, await published(provider), provider.clock.now())).toBe(true);
  });

  it.each([
    { alg: 'HS256' },
    { activateAfterSeconds: -1 },
    { activateAfterSeconds: 1.5 },
    { activateAfterSeconds: 30 * 86_400 + 1 },
    { activateAfterSeconds: Number.NaN },
  ])('refuses %j', async (options) => {
    const provider = await start();
    await expect(provider.ostiary.admin.signingKeys.rotate(options as object)).rejects.toThrow(TypeError);
    expect((await published(provider)).keys).toHaveLength(2);
  });

  it('leaves interactions that are under way alone', async () => {
    const provider = await start();
    const client = await provider.client();
    const browser = provider.browser();
    const page = await openConsent(provider, client, {}, browser);
    provider.clock.advance(1_000);
    await provider.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 0 });
    const approved = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
    await provider.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 0 });
    expect((await browser.get(approved.location ?? '')).location).toContain('code=');
    expect(
      (
        await answerConsent(
          provider,
          browser,
          await openConsent(provider, client, { scope: 'openid kyc' }, browser),
        )
      ).location,
    ).toContain('code=');
  });

  it('is listed, with what signs now', async () => {
    const provider = await start();
    provider.clock.advance(1);
    const next = await provider.ostiary.admin.signingKeys.rotate({ alg: 'ES256' });
    const rows = async () =>
      (await provider.ostiary.admin.signingKeys.list()).map(({ alg, signing }) => [alg, signing]).toSorted();
    expect(await rows()).toEqual([
      ['ES256', false],
      ['ES256', true],
      ['RS256', true],
    ]);
    provider.clock.advance(600_000);
    expect(
      (await provider.ostiary.admin.signingKeys.list()).find((key) => key.kid === next.kid)?.signing,
    ).toBe(true);
    expect(Object.keys(next)).toEqual(['kid', 'alg', 'createdAt', 'activeFrom', 'signing']);
  });
});

describe('two providers on one storage', () => {
  const pair = async () => {
    const storage = memoryStorage();
    const sealingKeys = [randomBytes(32)];
    const shared = { storage, sealingKeys, authUrl: 'https://id.example' };
    const first = await start(shared);
    return { first, second: await start({ ...shared, clock: first.clock }, first.host) };
  };

  it('begin with the same keys, also when they start together on an empty storage', async () => {
    const storage = memoryStorage();
    const sealingKeys = [randomBytes(32)];
    const [first, second] = await Promise.all([
      start({ storage, sealingKeys }),
      start({ storage, sealingKeys }),
    ]);
    expect(await published(first)).toEqual(await published(second));
    expect((await published(first)).keys).toHaveLength(2);
  });

  it('both know a new key five seconds later, long before it signs', async () => {
    const { first, second } = await pair();
    const client = await first.client();
    await publishedIds(second);
    const next = await first.ostiary.admin.signingKeys.rotate();
    expect(await publishedIds(first)).toContain(next.kid);
    first.clock.advance(5_000);
    expect(await publishedIds(second)).toContain(next.kid);
    first.clock.advance(600_000);
    expect(await signedWith(second, client)).toBe(next.kid);
    expect(await signedWith(first, client)).toBe(next.kid);
  });

  it('share interactions: one may begin and the other one end them, also over a rotation', async () => {
    const { first, second } = await pair();
    const client = await first.client();
    const browser = first.browser();
    const page = await openConsent(first, client, {}, browser);
    first.clock.advance(1_000);
    await first.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 0 });
    browser.connectTo(second.origin);
    const approved = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
    browser.connectTo(first.origin);
    const callback = new URL((await browser.get(approved.location ?? '')).location ?? '').searchParams;
    const answer = (await second.exchange(client, callback.get('code') ?? '')).json();
    expect((await first.userinfo(String(answer.access_token))).status).toBe(200);
  });
});
