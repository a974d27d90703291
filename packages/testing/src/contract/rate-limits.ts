import assert from 'node:assert/strict';
import type { RateLimitState, SharedRateLimits, Storage } from '@ostiary/core/storage';
import { issuedKey } from './api-keys.ts';
import { assertFields, assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import { acme, create, sampleClaim, samplePartner, sampleTransfer } from './partner-samples.ts';
import { digestOf, issued, minute, now, sampleClient } from './samples.ts';

const request = { bucket: 'users:key:a', limit: 3, windowMs: minute, now };
const endsAt = now + minute;
const nothing = { idempotencyKey: null, consent: null };

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

/** Rate limit check without other look-ups. */
const peeked = async (limits: SharedRateLimits, requests: Parameters<SharedRateLimits['peek']>[0]) =>
  (await limits.peek(requests, null)).states;

/** Cases for a storage that shares counts between processes. */
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
    assertSame(await peeked(limits, [atOnce]), [full], 'a clock that is a little behind changes nothing');
    assertSame(await limits.consume(atOnce), full);
    const back = { ...request, now: now - 5_001 };
    const next = { allowed: true, count: 1, endsAt: back.now + minute };
    assertSame(await peeked(limits, [back]), [{ ...next, count: 0 }]);
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
    assert.equal((await peeked(limits, [{ ...request, limit: 3 }]))[0]?.allowed, false);
    assertSame(await limits.consume({ ...request, limit: 11 }), { allowed: true, count: 11, endsAt });
  },

  'a look counts nothing': async (storage) => {
    const limits = limitsOf(storage);
    const other = { ...request, bucket: 'other', limit: 1 };
    const look = () => peeked(limits, [request, other]);
    const none = { allowed: true, count: 0, endsAt };
    assertSame([await look(), await look()], Array(2).fill([none, none]));
    await consumed(limits, 2);
    assertSame([await look(), await look()], Array(2).fill([{ allowed: true, count: 2, endsAt }, none]));
    await consumed(limits, 2);
    assertSame([await look(), await look()], Array(2).fill([{ allowed: false, count: 3, endsAt }, none]));
    const after = await peeked(limits, [{ ...request, now: endsAt }]);
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

  'counts the requests of a key as all others, and says whether the key is live': async (storage) => {
    const limits = limitsOf(storage);
    const key = await issuedKey(storage, 'a', { expiresAt: now + 10 });
    const other = await issuedKey(storage, 'b', { partner: 'other' });
    const asked = async (id: string, changes: Partial<typeof request> = {}) => {
      const { keyIsLive, earlier, holdsConsent, ...state } = await limits.consumeOfKey(
        id,
        { ...request, ...changes },
        nothing,
      );
      assertSame([earlier, holdsConsent], [null, false]);
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
      limits.consumeOfKey(ids[index % 4] ?? '', { ...request, limit: 30 }, nothing),
    );
    assertFields(
      answers,
      'keyIsLive',
      Array.from({ length: 40 }, (_, index) => index % 2 === 0),
    );
    assertSame(countAnswers(answers.map(({ allowed }) => allowed)), { true: 30, false: 10 });
  },

  'finds with the count the record of an idempotency key, and of each its own': async (storage) => {
    const limits = limitsOf(storage);
    const owners = [acme, { ...acme, mode: 'test' }, { partner: 'other', mode: 'live' }] as const;
    const claims = ['a', 'b "\\'].flatMap((key) =>
      owners.map((owner) => {
        const body = `answer of ${Object.values(owner)} ${key}`;
        return sampleClaim(key, { ...owner, fingerprint: digestOf(body), answer: { status: 201, body } });
      }),
    );
    for (const claim of claims) {
      const { partner, mode, answer } = claim;
      await create(storage, sampleTransfer(answer.body, { partner, mode }), claim);
    }
    const asked = [...claims, sampleClaim('unknown'), null];
    const found = await inParallel(60, async (index) => {
      const idempotencyKey = asked[index % asked.length] ?? null;
      const { earlier } = await limits.consumeOfKey(
        'key_a',
        { ...request, limit: 30 },
        { ...nothing, idempotencyKey },
      );
      return earlier && { ...earlier, fingerprint: Buffer.from(earlier.fingerprint) };
    });
    const expected = [...claims, null, null].map(
      (claim) => claim && { fingerprint: Buffer.from(claim.fingerprint), answer: claim.answer },
    );
    assertSame(
      found,
      found.map((_, index) => expected[index % expected.length]),
    );
    const [claim = null] = claims;
    const ended = { ...request, now: claim?.endsAt ?? 0 };
    const after = await limits.consumeOfKey('key_a', ended, { ...nothing, idempotencyKey: claim });
    assert.equal(after.earlier, null);
  },

  'says with the count whether a client of the partner holds a consent, to each of its own': async (
    storage,
  ) => {
    const limits = limitsOf(storage);
    await storage.partners.insert(samplePartner());
    await storage.clients.insert(sampleClient({ partner: 'acme' }));
    const { clientId } = sampleClient();
    for (const sub of ['ana', 'bob'])
      await storage.consents.remember({ sub, clientId, scopes: ['openid', 'kyc'], now });
    const held = { partner: 'acme', sub: 'ana', scope: 'kyc' };
    const asked = [
      held,
      { ...held, sub: 'bob' },
      { ...held, sub: 'eve' },
      { ...held, partner: 'other' },
      null,
    ];
    const found = await inParallel(50, async (index) => {
      const consent = asked[index % asked.length] ?? null;
      return (await limits.consumeOfKey('key_a', request, { ...nothing, consent })).holdsConsent;
    });
    assertSame(
      found,
      found.map((_, index) => index % asked.length < 2),
    );
    await storage.consents.revoke('ana', clientId, now);
    const after = await limits.consumeOfKey('key_a', request, { ...nothing, consent: held });
    assert.equal(after.holdsConsent, false);
  },

  'finds for an exchange what a look at each would find': async (storage) => {
    const limits = limitsOf(storage);
    await storage.clients.insert(sampleClient());
    const { codeDigest } = await issued(storage, 'a');
    await consumed(limits, 2);
    const { clientId } = sampleClient();
    const none = { clientId: 'unknown', codeDigest: digestOf('unknown') };
    for (const presented of [
      { clientId, codeDigest },
      { ...none, clientId },
      { ...none, codeDigest },
      none,
    ]) {
      const { states, client, grant } = await limits.peek([request], presented);
      assertSame(states, [{ allowed: true, count: 2, endsAt }]);
      assertSame(client, await storage.clients.find(presented.clientId));
      assertSame(grant, await storage.grants.find(presented.codeDigest));
    }
    const { client, grant } = await limits.peek([request], null);
    assertSame([client, grant], [null, null], 'nothing was presented');
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
    assertSame(await peeked(limits, [last]), [{ allowed: true, count: 1, endsAt: endsAt + 3 }]);
  },

  'after close calls are refused as unavailable': async (storage) => {
    const limits = limitsOf(storage);
    await storage.close();
    await assertUnavailable(() => limits.consume(request));
    await assertUnavailable(() => limits.peek([request], null));
    await assertUnavailable(() => limits.consumeOfKey('key_a', request, nothing));
  },
});

/** Cases for a storage that does not declare shared counts. */
export const separateRateLimitCases = casesOf('rate limits', {
  'are counted by each process for itself: the storage does not share them': async ({ rateLimits }) => {
    assert.equal(rateLimits, undefined, 'pass { rateLimits: true } to the contract, so that they are tested');
  },
});
