import assert from 'node:assert/strict';
import type { ApiKeyRecord, Storage } from '@ostiary/core/storage';
import { alternating, assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { firstByName, sampleApiKey, samplePartner } from './partner-samples.ts';
import { digestOf, hour, minute, now } from './samples.ts';

/** Creates the partner unless it exists, and stores an API key. */
export async function issuedKey(
  { partners, apiKeys }: Storage,
  label: string,
  changes: Partial<ApiKeyRecord> = {},
): Promise<ApiKeyRecord> {
  const key = sampleApiKey(label, changes);
  await partners.insert(samplePartner({ slug: key.partner }));
  assert.equal(await apiKeys.insert(key), true, 'the key is stored');
  return key;
}

const works = { partnerDisabled: false };

export const apiKeyCases = casesOf('api keys', {
  'a key is read back as it was stored, by id and by digest': async (storage) => {
    const full = await issuedKey(storage, 'full', {
      expiresAt: now + hour,
      revokedAt: now,
      lastUsedAt: now - 1,
    });
    const bare = await issuedKey(storage, 'bare', {
      mode: 'test',
      name: '',
      scopes: [],
      allowlist: null,
      requireSignature: true,
    });
    for (const key of [full, bare]) {
      assertSame(await storage.apiKeys.find(key.id), { ...key, ...works });
      assertSame(await storage.apiKeys.findByDigest(key.digest), { ...key, ...works });
    }
    assert.equal(await storage.apiKeys.find('key_unknown'), null);
    assert.equal(await storage.apiKeys.find('KEY_full'), null);
    assert.equal(await storage.apiKeys.findByDigest(digestOf('unknown')), null);
  },

  'a key needs its partner': async (storage) => {
    await storage.partners.insert(samplePartner());
    for (const partner of ['nobody', 'ACME', '']) {
      const key = sampleApiKey('a', { partner });
      assert.equal(await storage.apiKeys.insert(key), false, partner);
      assert.equal(await storage.apiKeys.find(key.id), null, partner);
      assert.equal(await storage.apiKeys.findByDigest(key.digest), null, partner);
    }
    assert.equal(await storage.apiKeys.insert(sampleApiKey('a')), true, 'the id is still free');
  },

  'a taken id or digest is refused and nothing changes': async (storage) => {
    const key = await issuedKey(storage, 'a');
    await storage.partners.insert(samplePartner({ slug: 'other' }));
    const sameId = sampleApiKey('b', { id: key.id, partner: 'other', mode: 'test' });
    const sameDigest = sampleApiKey('c', { digest: key.digest, partner: 'other', mode: 'test' });
    assert.equal(await storage.apiKeys.insert(sameId), false);
    assert.equal(await storage.apiKeys.insert(sameDigest), false);
    assertSame(await storage.apiKeys.findByDigest(key.digest), { ...key, ...works });
    assert.equal(await storage.apiKeys.findByDigest(sameId.digest), null);
    assert.equal(await storage.apiKeys.find(sameDigest.id), null);
    assertSame(await storage.apiKeys.list('other'), []);
  },

  'of parallel inserts of one digest exactly one is stored': async (storage) => {
    await storage.partners.insert(samplePartner());
    const digest = digestOf('one key');
    const answers = await inParallel(20, (index) =>
      storage.apiKeys.insert(sampleApiKey(`${index}`, { digest })),
    );
    assertSame(countAnswers(answers), { true: 1, false: 19 });
    const stored = await storage.apiKeys.findByDigest(digest);
    assert.equal(stored?.id, `key_${answers.indexOf(true)}`);
    assert.equal((await storage.apiKeys.list('acme')).length, 1);
  },

  'keys follow their partner when it is disabled and enabled': async (storage) => {
    const key = await issuedKey(storage, 'a');
    const other = await issuedKey(storage, 'b', { partner: 'other' });
    const disabled = async ({ id, digest }: ApiKeyRecord) => [
      (await storage.apiKeys.find(id))?.partnerDisabled,
      (await storage.apiKeys.findByDigest(digest))?.partnerDisabled,
    ];
    await storage.partners.replace(samplePartner({ version: 2, disabledAt: now }));
    assertSame(await disabled(key), [true, true]);
    assertSame(await disabled(other), [false, false]);
    const late = await issuedKey(storage, 'late');
    assertSame(await disabled(late), [true, true], 'a key that comes later too');
    assert.equal((await storage.apiKeys.find(key.id))?.revokedAt, null, 'the key itself stays as it is');

    await storage.partners.replace(samplePartner({ version: 3, disabledAt: null }));
    assertSame(await disabled(key), [false, false]);
    assertSame(await disabled(late), [false, false]);
  },

  'a key lives until it is revoked, ends, or its partner is disabled': async (storage) => {
    const { apiKeys } = storage;
    const key = await issuedKey(storage, 'a', { expiresAt: now + 10 });
    const other = await issuedKey(storage, 'b', { partner: 'other' });
    const answers = () => Promise.all([key.id, other.id, 'key_unknown'].map((id) => apiKeys.isLive(id, now)));
    assertSame(await answers(), [true, true, false]);
    assert.equal(await apiKeys.isLive(key.id, now + 9), true);
    assert.equal(await apiKeys.isLive(key.id, now + 10), false, 'ended');
    await storage.partners.replace(samplePartner({ version: 2, disabledAt: now }));
    assertSame(await answers(), [false, true, false]);
    await storage.partners.replace(samplePartner({ version: 3 }));
    assertSame(await answers(), [true, true, false]);
    await apiKeys.revoke(other.id, now);
    assertSame(await answers(), [true, false, false]);
    await apiKeys.roll({ id: key.id, successor: sampleApiKey('successor'), endsAt: now + 5, now });
    assert.equal(await apiKeys.isLive(key.id, now + 5), false, 'rolled');
    assert.equal(await apiKeys.isLive('key_successor', now + 5), true);
  },

  'asked together, each key has its own answer': async (storage) => {
    const ids = ['a', 'b', 'c', 'd'].map((label) => `key_${label}`);
    for (const label of ['a', 'b', 'c']) await issuedKey(storage, label);
    await storage.apiKeys.revoke('key_b', now);
    const answers = await inParallel(40, (index) => storage.apiKeys.isLive(ids[index % 4] ?? '', now));
    assertSame(
      answers,
      Array.from({ length: 40 }, (_, index) => index % 2 === 0),
    );
  },

  'the list has every key of one partner, the latest first, then goes by id': async (storage) => {
    const sorted = [
      await issuedKey(storage, 'newest', { createdAt: now + 9, mode: 'test' }),
      await issuedKey(storage, 'B', { revokedAt: now }),
      await issuedKey(storage, 'a', { expiresAt: now - 1 }),
      await issuedKey(storage, 'b'),
      await issuedKey(storage, 'Z', { createdAt: now - 1 }),
    ];
    await issuedKey(storage, 'other', { partner: 'acme-2' });
    assertSame(await storage.apiKeys.list('acme'), sorted);
    assertSame(await storage.apiKeys.list('nobody'), []);
  },

  'revoking ends one key, once or more often': async (storage) => {
    const key = await issuedKey(storage, 'a', { expiresAt: now + hour });
    const other = await issuedKey(storage, 'b');
    assert.equal(await storage.apiKeys.revoke(key.id, now + 2), true);
    const answers = await inParallel(10, (index) => storage.apiKeys.revoke(key.id, now + 3 + index));
    assertSame(countAnswers(answers), { false: 10 });
    assert.equal(await storage.apiKeys.revoke('key_unknown', now), false);
    assertSame(await storage.apiKeys.findByDigest(key.digest), { ...key, ...works, revokedAt: now + 2 });
    assertSame(await storage.apiKeys.find(other.id), { ...other, ...works });
  },

  'a use is noted, and never goes back in time': async (storage) => {
    const key = await issuedKey(storage, 'a');
    const other = await issuedKey(storage, 'b', { lastUsedAt: now });
    const lastUsed = async () => (await storage.apiKeys.findByDigest(key.digest))?.lastUsedAt;
    await storage.apiKeys.touch(key.id, now + 10 * minute);
    assert.equal(await lastUsed(), now + 10 * minute);
    await storage.apiKeys.touch(key.id, now + 5 * minute);
    assert.equal(await lastUsed(), now + 10 * minute, 'a process whose clock is late');
    await inParallel(30, (index) => storage.apiKeys.touch(key.id, now + ((index * 7) % 30) * minute));
    assert.equal(await lastUsed(), now + 29 * minute);
    await storage.apiKeys.touch('key_unknown', now);
    assert.equal(await storage.apiKeys.find('key_unknown'), null);
    assertSame(await storage.apiKeys.find(other.id), { ...other, ...works });
  },

  'a use that is noted while the key is revoked takes nothing back': async (storage) => {
    for (let round = 0; round < 20; round += 1) {
      const { id } = await issuedKey(storage, `round ${round}`);
      const calls = [
        () => storage.apiKeys.revoke(id, now + 1),
        () => storage.apiKeys.touch(id, now + hour),
        () => storage.apiKeys.roll({ id, successor: sampleApiKey(`next ${round}`), endsAt: now + hour, now }),
      ];
      await alternating<unknown>(round, calls);
      const key = await storage.apiKeys.find(id);
      assertSame([key?.revokedAt, key?.lastUsedAt], [now + 1, now + hour]);
    }
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const apiKeyCalls: Calls<'apiKeys'> = {
  insert: ({ apiKeys }) => apiKeys.insert(sampleApiKey('a')),
  find: ({ apiKeys }) => apiKeys.find('key_a'),
  findByDigest: ({ apiKeys }) => apiKeys.findByDigest(digestOf('a')),
  isLive: ({ apiKeys }) => apiKeys.isLive('key_a', now),
  list: ({ apiKeys }) => apiKeys.list('acme'),
  sorted: ({ apiKeys }) => apiKeys.sorted(firstByName),
  count: ({ apiKeys }) => apiKeys.count(1),
  startingWith: ({ apiKeys }) => apiKeys.startingWith('svc_live_', 1),
  revoke: ({ apiKeys }) => apiKeys.revoke('key_a', now),
  roll: ({ apiKeys }) => apiKeys.roll({ id: 'key_a', successor: sampleApiKey('b'), endsAt: now, now }),
  touch: ({ apiKeys }) => apiKeys.touch('key_a', now),
  listSealed: ({ apiKeys }) => apiKeys.listSealed({ after: null, limit: 1 }),
  reseal: ({ apiKeys }) => apiKeys.reseal([{ id: 'key_a', before: 'sealed a', sealed: 'sealed anew' }]),
};
