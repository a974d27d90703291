import assert from 'node:assert/strict';
import type { IdempotencyClaim, Owner, Quota } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import {
  acme,
  assertOutcome,
  create,
  executions,
  sampleClaim,
  sampleEvent,
  sampleTransfer,
} from './partner-samples.ts';
import { digestOf, now } from './samples.ts';

export const idempotencyCases = casesOf('idempotency', {
  'a record gives its answer again, byte for byte': async (storage) => {
    const bodies = ['', '{"a": 1}\n', '{"a":1}', ' 🗝️ "é" e\u0301 \\u0000 \u2028 ', `"${'ä'.repeat(50_000)}"`];
    for (const [index, body] of bodies.entries()) {
      const claim = sampleClaim(`key ${index}`, { answer: { status: 200 + index, body } });
      assertOutcome(await create(storage, sampleTransfer(`${index}`), claim), 'created');
    }
    for (const [index, body] of bodies.entries()) {
      const found = await storage.idempotency.find({ ...sampleClaim(`key ${index}`), now });
      assertSame(found?.answer, { status: 200 + index, body });
      assertSame(
        found && Buffer.from(found.fingerprint),
        Buffer.from(sampleClaim(`key ${index}`).fingerprint),
      );
    }
  },

  'a record is found by partner, mode and key, as they are': async (storage) => {
    const key = `~!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|} aZ9`;
    assertOutcome(await create(storage, sampleTransfer('a'), sampleClaim(key)), 'created');
    const find = (changes: Partial<IdempotencyClaim>) =>
      storage.idempotency.find({ ...sampleClaim(key), ...changes, now });
    assert.ok(await find({}));
    const others: Partial<IdempotencyClaim>[] = [
      { partner: 'other' },
      { partner: 'Acme' },
      { mode: 'test' },
      { key: key.toUpperCase() },
      { key: `${key} ` },
      { key: key.slice(0, -1) },
    ];
    for (const changes of others) assert.equal(await find(changes), null, JSON.stringify(changes));
  },

  'the records of an owner beyond a quota go, first those that end first, and those of others stay': async (
    storage,
  ) => {
    const sandbox = { ...acme, mode: 'test' } as const;
    const store = async (key: string, owner: Owner, endsAt: number, body = 'é') => {
      const claim = sampleClaim(key, { ...owner, endsAt, answer: { status: 201, body } });
      const transfer = sampleTransfer(`${owner.partner} ${owner.mode} ${key}`, owner);
      assertOutcome(await create(storage, transfer, claim), 'created');
    };
    // Texts with two bytes of UTF-8 in the key and two in the response.
    const keys = ['d4', 'c3', 'b2', 'a1'];
    const others = [
      { ...acme, mode: 'live' },
      { partner: 'other', mode: 'test' },
    ] as const;
    for (const owner of [sandbox, ...others])
      for (const [at, key] of keys.entries()) await store(key, owner, now + 1 + at);
    const left = async (owner: Owner = sandbox) => {
      const found = keys.toSorted().map(async (key) => {
        const record = await storage.idempotency.find({ ...owner, key, now });
        return record === null ? [] : [key];
      });
      return (await Promise.all(found)).flat();
    };
    const remove = (quota: Quota, limit = 10) =>
      storage.idempotency.removeOldest({ ...sandbox, ...quota, limit });
    assert.equal(await remove({ rows: 4, bytes: 16 }), 0);
    assert.equal(await remove({ rows: 2, bytes: 16 }, 1), 1);
    assertSame(await left(), ['a1', 'b2', 'c3']);
    assert.equal(await remove({ rows: 4, bytes: 11 }), 1);
    assertSame(await left(), ['a1', 'b2']);
    assert.equal(await remove({ rows: 1, bytes: 16 }), 1);
    assertSame(await left(), ['a1']);
    for (const owner of others) assertSame(await left(owner), keys.toSorted());
  },

  'looked up together, each key finds its own record': async (storage) => {
    const owners = [acme, { ...acme, mode: 'test' }, { partner: 'other', mode: 'live' }] as const;
    const claims = ['a', 'b "\\'].flatMap((key) =>
      owners.map((owner) => {
        const body = `answer of ${Object.values(owner)} ${key}`;
        return sampleClaim(key, { ...owner, fingerprint: digestOf(body), answer: { status: 201, body } });
      }),
    );
    for (const claim of claims) {
      const { partner, mode, answer } = claim;
      assertOutcome(await create(storage, sampleTransfer(answer.body, { partner, mode }), claim), 'created');
    }
    const asked = [...claims, sampleClaim('unknown')];
    const found = await inParallel(60, async (index) => {
      const { partner, mode, key } = asked[index % asked.length] ?? sampleClaim('unknown');
      return (await storage.idempotency.find({ partner, mode, key, now }))?.answer ?? null;
    });
    const expected = [...claims.map(({ answer }) => answer), null];
    assertSame(
      found,
      found.map((_, index) => expected[index % expected.length]),
    );
  },

  'one key means another request for another partner and in another mode': async (storage) => {
    const owners = [
      { partner: 'acme', mode: 'live' },
      { partner: 'acme', mode: 'test' },
      { partner: 'other', mode: 'live' },
      { partner: 'other', mode: 'test' },
    ] as const;
    // Use equal and different fingerprints: neither may matter across owners.
    for (const [index, owner] of owners.entries()) {
      const fingerprint = digestOf(index < 2 ? 'same' : `${index}`);
      const claim = sampleClaim('key', { ...owner, fingerprint, answer: { status: 201, body: `${index}` } });
      assertOutcome(await create(storage, sampleTransfer(`${index}`, owner), claim), 'created');
    }
    for (const [index, owner] of owners.entries()) {
      const fingerprint = digestOf(index < 2 ? 'same' : `${index}`);
      const replay = await create(
        storage,
        sampleTransfer('late', owner),
        sampleClaim('key', { ...owner, fingerprint }),
      );
      assertSame(replay, { outcome: 'replayed', answer: { status: 201, body: `${index}` } });
    }
    assert.equal((await executions(storage)).length, 4);
  },

  'one key means another event in another mode': async ({ events }) => {
    for (const mode of ['live', 'test'] as const) {
      const idempotency = sampleClaim('key', { mode, answer: { status: 201, body: mode } });
      const publish = (label: string) =>
        events.publish([sampleEvent(`${mode} ${label}`, { mode })], { idempotency, now });
      assert.equal((await publish('once')).outcome, 'published');
      assertSame(await publish('again'), { outcome: 'replayed', answer: idempotency.answer });
    }
  },

  'parallel requests with one key and one reference are replays, never conflicts': async (storage) => {
    const answers = await inParallel(50, (index) =>
      create(storage, sampleTransfer(`${index}`, { reference: 'order 7' }), sampleClaim('key')),
    );
    assertSame(countAnswers(answers.map(({ outcome }) => outcome)), { created: 1, replayed: 49 });
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const idempotencyCalls: Calls<'idempotency'> = {
  find: ({ idempotency }) => idempotency.find({ ...sampleClaim('a'), now }),
  removeOldest: ({ idempotency }) => idempotency.removeOldest({ ...acme, rows: 1, bytes: 1, limit: 1 }),
};
