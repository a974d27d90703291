import assert from 'node:assert/strict';
import type { AddressCounts, RateLimitState, Storage } from '@ostiary/core/storage';
import { assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import { minute, now } from './samples.ts';

const request = { bucket: 'users:key:a', limit: 3, windowMs: minute, now };
const endsAt = now + minute;

function limitsOf({ rateLimits }: Storage): AddressCounts {
  assert.ok(rateLimits, 'the storage has no rateLimits, although the contract was told so');
  return rateLimits;
}

async function consumed(limits: AddressCounts, count: number, changes: Partial<typeof request> = {}) {
  const states: RateLimitState[] = [];
  for (let number = 0; number < count; number += 1)
    states.push(await limits.consume({ ...request, ...changes }));
  return states;
}

/** Test cases for a storage that shares rate limit counts between processes. */
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

  'a window is over that ends later than it can, because the clock has gone back': async (storage) => {
    const limits = limitsOf(storage);
    await consumed(limits, 4);
    const atOnce = { ...request, now: now - 5_000 };
    const full = { allowed: false, count: 3, endsAt };
    assertSame(await limits.peek([atOnce]), [full], 'a clock that is a little behind changes nothing');
    assertSame(await limits.consume(atOnce), full);
    const back = { ...request, now: now - 5_001 };
    const next = { allowed: true, count: 1, endsAt: back.now + minute };
    assertSame(await limits.peek([back]), [{ ...next, count: 0 }]);
    assertSame(await limits.consume(back), next);
    assertSame(await limits.consume(back), { ...next, count: 2 });
    const hourBack = { ...request, now: now - 60 * minute };
    assertSame(await limits.consume(hourBack), { ...next, endsAt: hourBack.now + minute });
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
    assert.equal((await limits.peek([{ ...request, limit: 3 }]))[0]?.allowed, false);
    assertSame(await limits.consume({ ...request, limit: 11 }), { allowed: true, count: 11, endsAt });
  },

  'a look counts nothing': async (storage) => {
    const limits = limitsOf(storage);
    const other = { ...request, bucket: 'other', limit: 1 };
    const look = () => limits.peek([request, other]);
    const none = { allowed: true, count: 0, endsAt };
    assertSame([await look(), await look()], Array(2).fill([none, none]));
    await consumed(limits, 2);
    assertSame([await look(), await look()], Array(2).fill([{ allowed: true, count: 2, endsAt }, none]));
    await consumed(limits, 2);
    assertSame([await look(), await look()], Array(2).fill([{ allowed: false, count: 3, endsAt }, none]));
    const after = await limits.peek([{ ...request, now: endsAt }]);
    assertSame(after, [{ allowed: true, count: 0, endsAt: endsAt + minute }]);
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
    assertSame(await limits.peek([last]), [{ allowed: true, count: 1, endsAt: endsAt + 3 }]);
  },

  'after close calls are refused as unavailable': async (storage) => {
    const limits = limitsOf(storage);
    await storage.close();
    await assertUnavailable(() => limits.consume(request));
    await assertUnavailable(() => limits.peek([request]));
  },
});

/** Test cases for a storage that does not share rate limit counts. */
export const separateRateLimitCases = casesOf('rate limits', {
  'are counted by each process for itself: the storage does not share them': async ({ rateLimits }) => {
    assert.equal(rateLimits, undefined, 'pass { rateLimits: true } to the contract, so that they are tested');
  },
});
