import assert from 'node:assert/strict';
import type { IdempotencyClaim, Storage, StoredAnswer } from '@ostiary/core/storage';
import { assertSame, casesOf, countAnswers, inParallel } from './case.ts';
import { acme, create, executions, sampleClaim, sampleEvent, sampleTransfer } from './partner-samples.ts';
import { digestOf, minute, now } from './samples.ts';
import { dropped, listed, recover, redeliver, registered, sampleEndpoint } from './webhook-samples.ts';

/** What a call that takes an `Idempotency-Key` answers. */
interface Outcome {
  readonly outcome: string;
  readonly answer?: StoredAnswer;
}

/** A call that takes an `Idempotency-Key`. */
interface Kind {
  /** What it answers when it takes effect. */
  readonly done: string;
  prepare?(storage: Storage): Promise<unknown>;
  /** Each label asks for something of its own, as requests do that cannot see each other. */
  ask(storage: Storage, label: string, idempotency: IdempotencyClaim, at?: number): Promise<Outcome>;
  /** How much there is that such a call makes; none, or each time as much. */
  made(storage: Storage): Promise<number>;
}

const pending = async (storage: Storage) => (await listed(storage, { status: 'pending' })).length;

const kinds: Readonly<Record<string, Kind>> = {
  transfers: {
    done: 'created',
    ask: (storage, label, claim, at) => create(storage, sampleTransfer(label), claim, at),
    made: async (storage) => (await executions(storage)).length,
  },
  'webhook endpoints': {
    done: 'created',
    ask: ({ webhooks }, label, idempotency, at = now) =>
      webhooks.create({ endpoint: sampleEndpoint(label), idempotency, max: 99, now: at }),
    made: async ({ webhooks }) => (await webhooks.list(acme)).length,
  },
  events: {
    done: 'published',
    ask: ({ events }, label, idempotency, at = now) =>
      events.publish([sampleEvent(label)], { idempotency, now: at }),
    made: async ({ events }) => (await events.list({ ...acme, after: 0, limit: 99 })).events.length,
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
  },
  recoveries: {
    done: 'queued',
    async prepare(storage) {
      await registered(storage, 'a');
      for (const label of ['x', 'y']) await dropped(storage, label);
    },
    ask: (storage, label, idempotency, at = now) => recover(storage, 'we_a', label, { idempotency, now: at }),
    made: pending,
  },
};

/** The claim of a request, with an answer that no other one has. */
const claimOf = (label: string, changes: Partial<IdempotencyClaim> = {}): IdempotencyClaim =>
  sampleClaim('key', { answer: { status: 201, body: `{ "id" : "${label}", "é": "🗝️" }` }, ...changes });

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
    assertSame(found, { outcome: 'replayed', answer });
    assertSame(await ask(storage, 'late', claimOf('late')), { outcome: 'replayed', answer });
    assert.equal(await made(storage), once);
  },

  'of parallel requests with one key and two payloads one takes effect': async (
    storage,
    { done, ask, made },
  ) => {
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
    assert.ok((await made(storage)) <= 2);
  },

  'a key with another payload is a conflict and changes nothing, until its record ends': async (
    storage,
    { done, ask, made },
  ) => {
    const first = claimOf('a', { endsAt: now + minute });
    const second = { ...first, fingerprint: digestOf('second'), endsAt: now + 2 * minute };
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

  'of parallel requests after a record has ended exactly one takes effect': async (
    storage,
    { done, ask },
  ) => {
    await ask(storage, 'first', claimOf('first', { endsAt: now }), now - 1);
    const asked = await inParallel(30, (index) => ask(storage, `${index}`, claimOf(`${index}`)));
    assertSame(countAnswers(asked.map(({ outcome }) => outcome)), { [done]: 1, replayed: 29 });
  },
};

export const keyedRequestCases = Object.entries(kinds).flatMap(([noun, kind]) =>
  casesOf(
    `keys of ${noun}`,
    Object.fromEntries(
      Object.entries(cases).map(([name, run]) => [
        name,
        async (storage: Storage) => {
          await kind.prepare?.(storage);
          await run(storage, kind);
        },
      ]),
    ),
  ),
);
