import assert from 'node:assert/strict';
import type { IdempotencyClaim, Storage, StoredAnswer } from '@ostiary/core/storage';
import { assertSame, assertUnavailable, casesOf, countAnswers, inParallel } from './case.ts';
import {
  acme,
  assertOutcome,
  create,
  created,
  executions,
  sampleClaim,
  sampleEvent,
  sampleTransfer,
} from './partner-samples.ts';
import { digestOf, minute, now } from './samples.ts';
import {
  dropped,
  listed,
  published,
  recover,
  redeliver,
  registered,
  sampleEndpoint,
} from './webhook-samples.ts';

/** Result of a storage call that takes an `Idempotency-Key`. */
interface Outcome {
  readonly outcome: string;
  readonly answer?: StoredAnswer;
}

/** A kind of storage call that takes an `Idempotency-Key`. */
interface Kind {
  /** Outcome that the port call returns if it takes effect. */
  readonly done: string;
  /**
   * Stores an object with the id that a call with the label `x` would use, too. Such a call then fails, because
   * the id is taken.
   */
  prepare(storage: Storage): Promise<unknown>;
  /**
   * Makes a call with an idempotency key. The content of the call depends on the label, because independent
   * calls differ in content.
   */
  ask(storage: Storage, label: string, idempotency: IdempotencyClaim, at?: number): Promise<Outcome>;
  /**
   * Returns the number of records that calls of this kind have created. Each call adds the same number, or
   * none.
   */
  made(storage: Storage): Promise<number>;
  /**
   * A call with an idempotency key that cannot take effect, with its expected outcome; `null` if this kind of
   * call always can take effect.
   */
  readonly refused:
    | readonly [
        outcome: string,
        ask: (storage: Storage, idempotency: IdempotencyClaim, at: number) => Promise<Outcome>,
      ]
    | null;
}

const pending = async (storage: Storage) => (await listed(storage, { status: 'pending' })).length;

const kinds: Readonly<Record<string, Kind>> = {
  transfers: {
    done: 'created',
    prepare: (storage) => created(storage, 'x', { reference: 'order 7' }),
    ask: (storage, label, claim, at) => create(storage, sampleTransfer(label), claim, at),
    made: async (storage) => (await executions(storage)).length,
    refused: [
      'reference_conflict',
      (storage, claim, at) => create(storage, sampleTransfer('late', { reference: 'order 7' }), claim, at),
    ],
  },
  'webhook endpoints': {
    done: 'created',
    prepare: (storage) => registered(storage, 'x'),
    ask: ({ webhooks }, label, idempotency, at = now) =>
      webhooks.create({ endpoint: sampleEndpoint(label), idempotency, max: 99, now: at }),
    made: async ({ webhooks }) => (await webhooks.list(acme)).length,
    refused: [
      'too_many',
      ({ webhooks }, idempotency, at) =>
        webhooks.create({ endpoint: sampleEndpoint('late'), idempotency, max: 1, now: at }),
    ],
  },
  events: {
    done: 'published',
    prepare: (storage) => published(storage, 'x'),
    ask: ({ events }, label, idempotency, at = now) =>
      events.publish([sampleEvent(label)], { idempotency, now: at }),
    made: async ({ events }) => (await events.list({ ...acme, after: 0, limit: 99 })).events.length,
    refused: null,
  },
  redeliveries: {
    done: 'queued',
    async prepare(storage) {
      await registered(storage, 'a');
      await dropped(storage, 'x');
    },
    ask: (storage, label, idempotency, at = now) =>
      redeliver(storage, 'evt_x', label, { idempotency, now: at }),
    made: pending,
    refused: [
      'unknown_event',
      (storage, idempotency, at) => redeliver(storage, 'evt_nobody', 'late', { idempotency, now: at }),
    ],
  },
  recoveries: {
    done: 'queued',
    async prepare(storage) {
      await registered(storage, 'a');
      for (const label of ['x', 'y']) await dropped(storage, label);
    },
    ask: (storage, label, idempotency, at = now) => recover(storage, 'we_a', label, { idempotency, now: at }),
    made: pending,
    refused: [
      'unknown_endpoint',
      (storage, idempotency, at) => recover(storage, 'we_nobody', 'late', { idempotency, now: at }),
    ],
  },
};

/** Makes the idempotency claim of a request, with a response that no other claim has. */
const claimOf = (label: string, changes: Partial<IdempotencyClaim> = {}): IdempotencyClaim =>
  sampleClaim('key', { answer: { status: 201, body: `{ "id" : "${label}", "é": "🗝️" }` }, ...changes });

const keyFirst = 'the key is looked at first, and what is refused leaves it as it was';

const cases: { readonly [name: string]: (storage: Storage, kind: Kind) => Promise<void> } = {
  'of parallel requests with one key one takes effect, and the others give its answer': async (
    storage,
    { done, ask, made },
  ) => {
    const asked = await inParallel(40, (index) => ask(storage, `${index}`, claimOf(`${index}`)));
    const outcomes = asked.map(({ outcome }) => outcome);
    assertSame(countAnswers(outcomes), { [done]: 1, replayed: 39 });
    const winner = outcomes.indexOf(done);
    const answer = asked[winner]?.answer ?? claimOf(`${winner}`).answer;
    for (const [index, replay] of asked.entries()) {
      if (index !== winner) assertSame(replay, { outcome: 'replayed', answer });
    }
    const once = await made(storage);
    const found = await storage.idempotency.find({ ...claimOf('any'), now });
    assertSame(found?.answer, answer);
    assertSame(await ask(storage, 'late', claimOf('late')), { outcome: 'replayed', answer });
    assert.equal(await made(storage), once);
  },

  'of parallel requests with one key and two payloads one takes effect': async (
    storage,
    { done, ask, made },
  ) => {
    const before = await made(storage);
    const fingerprints = [digestOf('one'), digestOf('other')];
    const asked = await inParallel(40, (index) =>
      ask(storage, `${index}`, claimOf(`${index}`, { fingerprint: fingerprints[index % 2] ?? digestOf('') })),
    );
    const outcomes = asked.map(({ outcome }) => outcome);
    assertSame(countAnswers(outcomes), { [done]: 1, replayed: 19, key_conflict: 20 });
    const winner = outcomes.indexOf(done);
    for (const [index, outcome] of outcomes.entries()) {
      assert.equal(outcome === 'key_conflict', index % 2 !== winner % 2);
    }
    assert.ok((await made(storage)) - before <= 2);
  },

  'a key with another payload is a conflict and changes nothing, until its record ends': async (
    storage,
    { done, ask, made },
  ) => {
    const first = claimOf('a', { endsAt: now + minute });
    const fingerprint = Uint8Array.from(first.fingerprint);
    fingerprint[31] = (fingerprint[31] ?? 0) ^ 1;
    const second = { ...first, fingerprint, endsAt: now + 2 * minute };
    const outcomeOf = async (label: string, claim: IdempotencyClaim, at: number) =>
      (await ask(storage, label, claim, at)).outcome;
    assert.equal(await outcomeOf('a', first, now), done);
    const once = await made(storage);
    assert.equal(await outcomeOf('b', second, now), 'key_conflict');
    assert.equal(await outcomeOf('b', second, now + minute - 1), 'key_conflict');
    assert.equal(await outcomeOf('b', first, now + minute - 1), 'replayed');
    assert.equal(await made(storage), once);
    assert.equal(await outcomeOf('b', second, now + minute), done);
    assert.equal(await outcomeOf('c', first, now + minute), 'key_conflict', 'the record was overwritten');
    assert.equal(await outcomeOf('c', second, now + 2 * minute - 1), 'replayed');
  },

  'records of other owners and of other keys do not answer, and stay as they are': async (
    storage,
    { done, ask },
  ) => {
    const others = [
      claimOf('partner', { partner: 'other' }),
      claimOf('mode', { mode: 'test' }),
      claimOf('key', { key: 'another key' }),
    ];
    for (const claim of others) {
      const { partner, mode, answer } = claim;
      assertOutcome(await create(storage, sampleTransfer(answer.body, { partner, mode }), claim), 'created');
    }
    const claim = claimOf('own');
    const first = await ask(storage, 'own', claim);
    assert.equal(first.outcome, done);
    const answer = first.answer ?? claim.answer;
    assertSame(await ask(storage, 'again', claim), { outcome: 'replayed', answer });
    for (const other of others)
      assertSame((await storage.idempotency.find({ ...other, now }))?.answer, other.answer);
  },

  'of parallel requests after a record has ended exactly one takes effect': async (
    storage,
    { done, ask },
  ) => {
    await ask(storage, 'first', claimOf('first', { endsAt: now }), now - 1);
    const asked = await inParallel(30, (index) => ask(storage, `${index}`, claimOf(`${index}`)));
    assertSame(countAnswers(asked.map(({ outcome }) => outcome)), { [done]: 1, replayed: 29 });
  },

  [keyFirst]: async (storage, { done, ask, refused }) => {
    const [outcome, refusal] = refused ?? assert.fail('nothing of it is refused');
    const claim = claimOf('a', { endsAt: now + minute });
    const other = { ...claim, fingerprint: digestOf('another'), endsAt: now + 2 * minute };
    const isKept = async (at: number) => (await storage.idempotency.find({ ...claim, now: at })) !== null;
    const refusedAt = async (at: number, idempotency = claim) =>
      (await refusal(storage, idempotency, at)).outcome;
    assertSame([await refusedAt(now), await isKept(now)], [outcome, false]);
    assert.equal((await ask(storage, 'a', claim)).outcome, done);
    assertSame([await refusedAt(now), await refusedAt(now, other)], ['replayed', 'key_conflict']);
    assert.equal(await refusedAt(now + minute, other), outcome);
    assert.equal(await isKept(now + minute - 1), true, 'the record was not overwritten');
    assert.equal(await isKept(now + minute), false);
  },

  'an id that is taken is an error, makes nothing and leaves the key free': async (
    storage,
    { done, ask, made },
  ) => {
    const before = await made(storage);
    await assertUnavailable(() => ask(storage, 'x', claimOf('x')));
    assert.equal(await made(storage), before);
    assert.equal(await storage.idempotency.find({ ...claimOf('x'), now }), null);
    assert.equal((await ask(storage, 'free', claimOf('free'))).outcome, done);
  },
};

export const keyedRequestCases = Object.entries(kinds).flatMap(([noun, kind]) =>
  casesOf(
    `keys of ${noun}`,
    Object.fromEntries(
      Object.entries(cases)
        .filter(([name]) => name !== keyFirst || kind.refused !== null)
        .map(([name, run]) => [
          name,
          async (storage: Storage) => {
            await kind.prepare(storage);
            await run(storage, kind);
          },
        ]),
    ),
  ),
);
