import assert from 'node:assert/strict';
import type { RateLimitState, SharedRateLimits, Storage } from '@ostiary/core/storage';
import { issuedKey } from './api-keys.ts';
import { assertFields, assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import { minute, now } from './samples.ts';

const request = { bucket: 'users:key:a', limit: 3, windowMs: minute, now };
const endsAt = now + minute;

function limitsOf({ rateLimits }: Storage): SharedRateLimits {
  assert.ok(rateLimits, 'the storage has no rateLimits, although the contract was told so');
  return rateLimits;
}

async function consumed(limits: SharedRateLimits, count: number, changes: Partial<typeof request> = {}) {
  const states: RateLimitState[] = [];
  for (let number = 0; number < count; number += 1)
    states.push(await limits.consume({ ...request, ...changes }));
  return states;
}

/** Of a storage that shares counts between processes. */
export const sharedRateLimitCases = casesOf('rate limits', {
  'a window begins with its first request and says what was counted': async (storage) => {
    const limits = limitsOf(storage);
    assertSame(await limits.consume(request), { allowed: true, count: 1, endsAt });
    assertSame(await limits.consume({ ...request, now: now + 9 }), { allowed: true, count: 2, endsAt });
    assertSame(await limits.consume({ ...request, now: endsAt - 1 }), { allowed: true, count: 3, endsAt });
  },

  'what is refused is told so, and not counted': async (storage) => {
    const limits = limitsOf(storage);
    const full = { allowed: false, count: 3, endsAt };
    const states = await consumed(limits, 6);
    assertSame(states.slice(3), [full, full, full]);
    assertSame(await limits.consume({ ...request, limit: 4 }), { allowed: true, count: 4, endsAt });
  },

  'a window ends at its exact millisecond, whether it was full or not': async (storage) => {
    const limits = limitsOf(storage);
    await consumed(limits, 5);
    assertSame(await limits.consume({ ...request, now: endsAt - 1 }), { allowed: false, count: 3, endsAt });
    const next = { allowed: true, count: 1, endsAt: endsAt + minute };
    assertSame(await limits.consume({ ...request, now: endsAt }), next);
    const later = endsAt + 5 * minute;
    assertSame(await limits.consume({ ...request, now: later }), { ...next, endsAt: later + minute });
  },

  'buckets are counted apart, by their exact names': async (storage) => {
    const limits = limitsOf(storage);
    await consumed(limits, 4);
    for (const bucket of ['users:key:A', 'users:key:a ', 'verify:key:a', 'users:partner:\u{1F511}'])
      assertSame(await limits.consume({ ...request, bucket }), { allowed: true, count: 1, endsAt });
    assert.equal((await limits.consume(request)).allowed, false);
  },

  'a lower limit than before refuses what is over it, and loses no count': async (storage) => {
    const limits = limitsOf(storage);
    await consumed(limits, 10, { limit: 10 });
    assert.equal((await limits.consume({ ...request, limit: 3 })).allowed, false);
    assert.equal((await limits.peek({ ...request, limit: 3 })).allowed, false);
    assertSame(await limits.consume({ ...request, limit: 11 }), { allowed: true, count: 11, endsAt });
  },

  'a look counts nothing': async (storage) => {
    const limits = limitsOf(storage);
    const look = () => limits.peek(request);
    assertSame([await look(), await look()], Array(2).fill({ allowed: true, count: 0, endsAt }));
    await consumed(limits, 2);
    assertSame([await look(), await look()], Array(2).fill({ allowed: true, count: 2, endsAt }));
    await consumed(limits, 2);
    assertSame([await look(), await look()], Array(2).fill({ allowed: false, count: 3, endsAt }));
    const after = await limits.peek({ ...request, now: endsAt });
    assertSame(after, { allowed: true, count: 0, endsAt: endsAt + minute });
  },

  'of 200 parallel requests exactly as many pass as are allowed': async (storage) => {
    const limits = limitsOf(storage);
    const states = await inParallel(200, () => limits.consume({ ...request, limit: 60 }));
    assertSame(countAnswers(states.map(({ allowed }) => allowed)), { true: 60, false: 140 });
    const counts = states.filter(({ allowed }) => allowed).map(({ count }) => count);
    assertSame(new Set(counts), new Set(Array.from({ length: 60 }, (_, index) => index + 1)));
    assertSame(countAnswers(states.map((state) => `${state.count <= 60} ${state.endsAt === endsAt}`)), {
      'true true': 200,
    });
  },

  'parallel requests after the end of a window share one new window': async (storage) => {
    const limits = limitsOf(storage);
    await consumed(limits, 3);
    const states = await inParallel(100, () => limits.consume({ ...request, limit: 30, now: endsAt }));
    assertSame(countAnswers(states.map(({ allowed }) => allowed)), { true: 30, false: 70 });
  },

  'counts the requests of a key as all others, and says whether the key is live': async (storage) => {
    const limits = limitsOf(storage);
    const key = await issuedKey(storage, 'a', { expiresAt: now + 10 });
    const other = await issuedKey(storage, 'b', { partner: 'other' });
    const asked = async (id: string, changes: Partial<typeof request> = {}) => {
      const { keyIsLive, ...state } = await limits.consumeOfKey(id, { ...request, ...changes });
      return [keyIsLive, state];
    };
    assertSame(await asked(key.id), [true, { allowed: true, count: 1, endsAt }]);
    assertSame(await limits.consume(request), { allowed: true, count: 2, endsAt });
    assertSame(await asked('key_unknown'), [false, { allowed: true, count: 3, endsAt }]);
    assertSame(await asked(other.id), [true, { allowed: false, count: 3, endsAt }], 'full');
    const isLive = async (id: string, at = now) => (await asked(id, { bucket: `${id} ${at}`, now: at }))[0];
    assertSame([await isLive(key.id, now + 9), await isLive(key.id, now + 10)], [true, false], 'ended');
    await storage.partners.replace(samplePartner({ version: 2, disabledAt: now }));
    assertSame([await isLive(key.id), await isLive(other.id)], [false, true], 'its partner is disabled');
    await storage.partners.replace(samplePartner({ version: 3 }));
    await storage.apiKeys.revoke(other.id, now);
    assertSame([await isLive(key.id), await isLive(other.id)], [true, false], 'revoked');
  },

  'counted together in one bucket, each key has its own answer': async (storage) => {
    const limits = limitsOf(storage);
    const ids = ['a', 'b', 'c', 'd'].map((label) => `key_${label}`);
    for (const label of ['a', 'b', 'c']) await issuedKey(storage, label);
    await storage.apiKeys.revoke('key_b', now);
    const answers = await inParallel(40, (index) =>
      limits.consumeOfKey(ids[index % 4] ?? '', { ...request, limit: 30 }),
    );
    assertFields(
      answers,
      'keyIsLive',
      Array.from({ length: 40 }, (_, index) => index % 2 === 0),
    );
    assertSame(countAnswers(answers.map(({ allowed }) => allowed)), { true: 30, false: 10 });
  },

  'windows are purged a minute after their end, the oldest first': async (storage) => {
    const limits = limitsOf(storage);
    const purge = async (time: number, limit: number) =>
      (await storage.purge({ now: time, before: 0, eventsBefore: 0, limit })).rateLimits;
    for (const offset of [0, 1, 2, 3])
      await limits.consume({ ...request, bucket: `b${offset}`, now: now + offset });
    assert.equal(await purge(endsAt + minute, 10), 0);
    assert.equal(await purge(endsAt + minute + 3, 2), 2);
    assert.equal(await purge(endsAt + minute + 3, 2), 1);
    const last = { ...request, bucket: 'b3', now: now + 3 };
    assertSame(await limits.peek(last), { allowed: true, count: 1, endsAt: endsAt + 3 });
  },

  'after close calls are refused as unavailable': async (storage) => {
    const limits = limitsOf(storage);
    await storage.close();
    await assertUnavailable(() => limits.consume(request));
    await assertUnavailable(() => limits.peek(request));
    await assertUnavailable(() => limits.consumeOfKey('key_a', request));
  },
});

/** Of a storage that was not said to share counts. */
export const separateRateLimitCases = casesOf('rate limits', {
  'are counted by each process for itself: the storage does not share them': async ({ rateLimits }) => {
    assert.equal(rateLimits, undefined, 'pass { rateLimits: true } to the contract, so that they are tested');
  },
});
