import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { apiKeyFormat } from '../../../src/secrets/api-key-format.ts';
import { systemRandom } from '../../../src/secrets/random.ts';
import { fragileStorage, storageWith } from '../../support/fragile-storage.ts';
import { partnerProvider } from '../../support/partner-api.ts';
import { TestClock, type TestKey } from '../../support/provider.ts';
import { blamed } from '../refusal.ts';

const look = 'GET /v1/partner/users/KID-ANA';
const day = 86_400_000;

/** Starts two processes on one storage. */
async function twoProcesses(storage = memoryStorage()) {
  const shared = { storage, clock: new TestClock(), sealingKeys: [new Uint8Array(32).fill(1)] };
  const [here, there] = [await partnerProvider(shared), await partnerProvider(shared)];
  return { here: here.provider, there: there.provider };
}

describe('an API key', () => {
  it('is the prefix, the mode, 256 bits and a checksum, and is unique', () => {
    const format = apiKeyFormat('acme');
    const keys = Array.from({ length: 500 }, () => format.newKey('live', systemRandom));
    expect(new Set(keys).size).toBe(500);
    for (const key of keys) {
      expect(key).toMatch(/^acme_live_[0-9A-Za-z]{49}$/);
      expect(format.isKey(key)).toBe(true);
    }
    // 43 base-62 digits have more than 256 bits, and every digit occurs.
    expect(43 * Math.log2(62)).toBeGreaterThan(256);
    expect(new Set(keys.flatMap((key) => [...key.slice(10, 53)])).size).toBe(62);
  });

  it('is refused without a database call after any typo of one character', async () => {
    const { provider, database } = await partnerProvider();
    const { key } = await provider.key();
    database.forget();
    for (let at = 0; at < key.length; at += 1) {
      const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
      expect.soft((await provider.partnerCall(typo, look)).status, `at ${at}`).toBe(401);
    }
    expect(database.calls).toEqual([]);
    expect((await provider.partnerCall(key, look)).status).toBe(200);
    expect(database.calls).toContain('apiKeys.findByDigest');
  });

  it('that is rejected gets the same answer for every reason', async () => {
    const { provider } = await partnerProvider();
    const partner = await provider.partner();
    const [revoked, expired, rolled, disabled] = await Promise.all([
      provider.key({ partner }),
      provider.key({ partner, expiresAt: new Date(provider.clock.now() + 1_000) }),
      provider.key({ partner }),
      provider.key(),
    ]);
    // Use the keys first, so that they are cached.
    for (const { key } of [revoked, expired, rolled, disabled])
      expect((await provider.partnerCall(key, look)).status).toBe(200);
    await provider.ostiary.admin.apiKeys.revoke(revoked.id);
    await provider.ostiary.admin.apiKeys.roll(rolled.id, { overlapSeconds: 0 });
    await provider.ostiary.admin.partners.disable(disabled.partner);
    provider.clock.advance(1_000);
    const unknown = apiKeyFormat('svc').newKey('live', systemRandom);
    const rejected = [
      ...[
        null,
        '',
        'hello',
        `svc_live_${'a'.repeat(10_000)}`,
        apiKeyFormat('acme').newKey('live', systemRandom),
      ],
      ...[unknown, unknown.toUpperCase(), `${unknown}, ${unknown}`],
      // A key with a wrong checksum.
      `${unknown.slice(0, -1)}${unknown.endsWith('0') ? '1' : '0'}`,
      ...[revoked.key, expired.key, rolled.key, disabled.key],
    ];
    const seen = new Set<string>();
    for (const key of rejected) {
      const answer = await provider.partnerCall(key, look);
      expect.soft(blamed(answer, 401, 'invalid_api_key'), String(key)).toEqual([]);
      const { date: _, 'x-request-id': requestId = '', ...headers } = Object.fromEntries(answer.headers);
      seen.add(JSON.stringify([answer.text.replace(requestId, ''), headers]));
    }
    expect([...seen]).toEqual([expect.stringContaining('The API key is missing or not valid.')]);
    expect(String([...seen])).not.toMatch(/ratelimit|retry-after|www-authenticate/i);
  });

  it('that is revoked is refused at the next request in another process, before all other checks', async () => {
    const { here, there } = await twoProcesses();
    const scopes = ['users:read'] as const;
    const [first, second] = [await here.key({ scopes }), await here.key({ scopes })];
    const limited = 'GET /v1/partner/reconciliation?date=2020-01-01';
    const answer = async (key: TestKey, route = look) => {
      const { status, headers } = await there.partnerCall(key, route);
      return [status, [...headers].some(([name]) => /ratelimit|retry-after/i.test(name))];
    };
    for (const key of [first, second]) expect(await answer(key)).toEqual([200, true]);
    expect(await answer(first, limited)).toEqual([403, false]);
    await here.ostiary.admin.apiKeys.revoke(first.id);
    expect([await answer(first), await answer(second)]).toEqual([
      [401, false],
      [200, true],
    ]);
    await here.ostiary.admin.partners.disable(second.partner);
    for (const route of [limited, look]) expect(await answer(second, route)).toEqual([401, false]);
    await here.ostiary.admin.partners.enable(second.partner);
    expect([await answer(first), await answer(second)]).toEqual([
      [401, false],
      [200, true],
    ]);
  });

  it('is read again when the clock was set back, and not cached for longer', async () => {
    const { provider, database } = await partnerProvider();
    const key = await provider.key();
    await provider.partnerCall(key, look);
    database.forget();
    await provider.partnerCall(key, look);
    expect(database.calls).not.toContain('apiKeys.findByDigest');
    // Smaller steps back have no effect, because the clock waits.
    provider.clock.advance(-2_001);
    await provider.partnerCall(key, look);
    expect(database.calls).toContain('apiKeys.findByDigest');
  });

  it('that is read while it is revoked does not come back from the cache', async () => {
    const inner = memoryStorage();
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const storage = storageWith(inner, 'apiKeys', {
      async findByDigest(digest) {
        const found = await inner.apiKeys.findByDigest(digest);
        asked.resolve();
        await gate.promise;
        return found;
      },
    });
    const { provider } = await partnerProvider({ storage });
    const key = await provider.key();
    const early = provider.partnerCall(key, look);
    await asked.promise;
    await provider.ostiary.admin.apiKeys.revoke(key.id);
    gate.resolve();
    await early;
    expect((await provider.partnerCall(key, look)).status).toBe(401);
  });
});

it('rolling a key keeps the old one for the overlap, with the same rights, and gives a new signing secret', async () => {
  const { provider } = await partnerProvider();
  const { apiKeys } = provider.ostiary.admin;
  const rights = { scopes: ['users:read'], mode: 'test', name: 'till' } as const;
  const old = await provider.key(rights);
  const { apiKey, key, signingSecret } = await apiKeys.roll(old.id, { overlapSeconds: 60 });
  expect(apiKey).toMatchObject({ ...rights, partner: old.partner });
  expect(signingSecret).not.toBe(old.signingSecret);
  // The default overlap is a day.
  const last = await apiKeys.roll(apiKey.id);
  const working = async (...keys: readonly string[]) => {
    const path = 'GET /v1/partner/users/KID-TEST-APPROVED';
    const answers = await Promise.all(keys.map((presented) => provider.partnerCall(presented, path)));
    return answers.map(({ status }) => status);
  };
  for (const [ms, ...expected] of [
    [59_999, 200, 200, 200],
    [1, 401, 200, 200],
    [day - 60_001, 401, 200, 200],
    [1, 401, 401, 200],
  ] as const) {
    provider.clock.advance(ms);
    expect(await working(old.key, key, last.key)).toEqual(expected);
  }
  await expect(apiKeys.roll(old.id)).rejects.toMatchObject({ code: 'key_ended' });
  await expect(apiKeys.roll('key_x')).rejects.toMatchObject({ code: 'key_not_found' });
  await expect(apiKeys.revoke('key_x')).rejects.toMatchObject({ code: 'key_not_found' });
});

describe('provisioning', () => {
  it('refuses what cannot be right, and names it', async () => {
    const { provider } = await partnerProvider();
    const { partners, apiKeys } = provider.ostiary.admin;
    const partner = await provider.partner('acme-1');
    for (const slug of ['a', 'A-b', 'a b', 'é-é', 'a'.repeat(41), ''])
      await expect.soft(partners.create({ slug, name: 'x' }), slug).rejects.toThrow(/slug/);
    const again = partners.create({ slug: 'acme-1', name: 'x' });
    await expect(again).rejects.toMatchObject({ code: 'partner_exists' });
    const issue = (changes: object) =>
      apiKeys.issue({ partner, mode: 'live', scopes: ['webhooks'], ...changes });
    for (const [changes, path] of [
      [{ allowlist: [] }, /allowlist/],
      [{ allowlist: ['10.0.0.0/33'] }, /allowlist\.0/],
      [{ allowlist: ['192.0.2.1', '10.0.0.0/8/8'] }, /allowlist\.1/],
      [{ scopes: [] }, /scopes/],
      [{ scopes: ['everything'] }, /scopes\.0/],
      [{ expiresAt: new Date(provider.clock.now()) }, /expiresAt/],
      [{ mode: 'prod' }, /mode/],
      [{ surprise: 1 }, TypeError],
    ] as const)
      await expect(issue(changes)).rejects.toThrow(path);
    await expect(issue({ partner: 'nobody' })).rejects.toMatchObject({ code: 'partner_not_found' });
    expect(await apiKeys.list(partner)).toEqual([]);
    // The key and its secret are only returned once, on creation.
    const { key, signingSecret } = await provider.key({ partner });
    const listed = JSON.stringify(await apiKeys.list(partner));
    for (const secret of [key, signingSecret, 'digest', 'sealed']) expect(listed).not.toContain(secret);
  });

  it('records when a key was last used, at most once a minute for all requests and processes', async () => {
    const database = fragileStorage();
    const { here, there } = await twoProcesses(database.storage);
    const key = await here.key();
    const used = async () => (await here.ostiary.admin.apiKeys.list(key.partner))[0]?.lastUsedAt ?? null;
    expect(await used()).toBeNull();
    const now = () => new Date(here.clock.now()).toISOString();
    const first = now();
    for (const [wait, by, seen] of [
      [0, here, () => first],
      [5_000, there, () => first],
      [54_999, here, () => first],
      [1, there, now],
    ] as const) {
      here.clock.advance(wait);
      await Promise.all(Array.from({ length: 20 }, () => by.partnerCall(key, look)));
      expect(await used()).toBe(seen());
    }
    expect(database.calls.filter((call) => call === 'apiKeys.touch')).toHaveLength(2);
    here.clock.advance(day);
    database.breakWhen((call) => call === 'apiKeys.touch');
    expect((await here.partnerCall(key, look)).status).toBe(200);
  });
});
