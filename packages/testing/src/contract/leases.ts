import assert from 'node:assert/strict';
import type { Claim, Storage } from '@ostiary/core/storage';
import { alternating, assertFields, assertSame, casesOf, countAnswers, inParallel } from './case.ts';
import { hour, minute, now } from './samples.ts';
import { claim, finish, leaseMs, published, registered } from './webhook-samples.ts';

interface Held extends Claim {
  readonly dueAt: number;
  readonly attempt: number;
}

/** A kind of work that workers claim under a lease. */
interface Kind {
  prepare?(storage: Storage): Promise<unknown>;
  /** Stores a job or delivery that is due at `dueAt` and returns its id. */
  put(storage: Storage, label: string, dueAt?: number): Promise<string>;
  take(storage: Storage, claimId: string, at?: number, limit?: number): Promise<Held[]>;
  done(storage: Storage, held: Held): Promise<boolean | undefined>;
  giveBack(storage: Storage, held: Held, dueAt: number): Promise<boolean | undefined>;
}

const kinds: Readonly<Record<string, Kind>> = {
  jobs: {
    async put({ queue }, id, dueAt = now) {
      await queue.enqueue([{ id, kind: 'work', payload: {}, dueAt }]);
      return id;
    },
    take: ({ queue }, claimId, at = now, limit = 1000) =>
      queue.claim({ kinds: ['work'], claimId, now: at, leaseMs, limit }),
    done: ({ queue }, held) => queue.complete(held),
    giveBack: ({ queue }, held, dueAt) => queue.retry(held, { dueAt, error: 'answered 500' }),
  },
  deliveries: {
    prepare: (storage) => registered(storage, 'a'),
    async put(storage, label, createdAt = now) {
      await published(storage, label, { createdAt });
      return `dl_${label}_1`;
    },
    take: (storage, claimId, at = now, limit = 1000) => claim(storage, claimId, { now: at, limit }),
    done: (storage, held) => finish(storage, held, { status: 'delivered' }),
    giveBack: (storage, held, dueAt) => finish(storage, held, { status: 'pending', dueAt }),
  },
};

async function takeOne(storage: Storage, kind: Kind, claimId: string, at = now): Promise<Held> {
  const [held, ...others] = await kind.take(storage, claimId, at);
  assertSame(others, []);
  return held ?? assert.fail('nothing was claimed');
}

const cases: { readonly [name: string]: (storage: Storage, kind: Kind) => Promise<void> } = {
  'it begins at the exact millisecond at which something is due': async (storage, kind) => {
    const id = await kind.put(storage, 'x', now + minute);
    assertSame(await kind.take(storage, 'early', now + minute - 1), []);
    assertFields(await kind.take(storage, 'on time', now + minute), 'id', [id]);
  },

  'parallel claims never share anything': async (storage, kind) => {
    for (let index = 0; index < 100; index += 1) await kind.put(storage, `${index}`);
    const claims = await inParallel(12, (index) => kind.take(storage, `claim ${index}`, now, 15));
    for (const [index, taken] of claims.entries()) {
      assert.ok(taken.length <= 15);
      for (const { claimId, attempt } of taken) assertSame([claimId, attempt], [`claim ${index}`, 1]);
    }
    const ids = [...claims.flat(), ...(await kind.take(storage, 'rest'))].map(({ id }) => id);
    assertSame([ids.length, new Set(ids).size], [100, 100], 'nothing twice, and nothing is lost');
    assertSame(await kind.take(storage, 'none', now + leaseMs - 1), []);
  },

  'it ends at its exact millisecond, and then only the next claim counts': async (storage, kind) => {
    const id = await kind.put(storage, 'x');
    const first = await takeOne(storage, kind, 'first');
    assertSame(await kind.take(storage, 'early', now + leaseMs - 1), []);
    const second = await takeOne(storage, kind, 'second', now + leaseMs);
    assertSame(second, { ...first, id, claimId: 'second', attempt: 2 });
    for (const old of [first, { ...first, claimId: 'forged' }, { ...second, id: 'nobody' }]) {
      assert.equal(await kind.done(storage, old), false);
      assert.equal(await kind.giveBack(storage, old, now), false);
    }
    assertSame(await kind.take(storage, 'third', now + 2 * leaseMs - 1), [], 'the second still holds it');
    assert.equal(await kind.done(storage, second), true);
    assert.equal(await kind.done(storage, second), false, 'once');
    assertSame(await kind.take(storage, 'last', now + 9 * leaseMs), []);
  },

  'of parallel claims after its end exactly one takes over': async (storage, kind) => {
    await kind.put(storage, 'x');
    await kind.take(storage, 'dead');
    const claims = await inParallel(20, (index) => kind.take(storage, `c${index}`, now + leaseMs));
    assert.equal(claims.flat().length, 1);
    await takeOne(storage, kind, 'last', now + 2 * leaseMs);
  },

  'a result after its end counts while nobody took over': async (storage, kind) => {
    await kind.put(storage, 'x');
    const late = await takeOne(storage, kind, 'slow');
    assertSame(await kind.take(storage, 'other', now + leaseMs, 0), []);
    assert.equal(await kind.done(storage, late), true);
    assertSame(await kind.take(storage, 'later', now + leaseMs), []);
  },

  'what is given back is due when it was told, with the next attempt': async (storage, kind) => {
    const id = await kind.put(storage, 'x');
    const held = await takeOne(storage, kind, 'first');
    assert.equal(await kind.giveBack(storage, held, now + minute), true);
    assert.equal(await kind.giveBack(storage, held, now), false, 'given back is given back');
    assert.equal(await kind.done(storage, held), false);
    assertSame(await kind.take(storage, 'early', now + minute - 1), []);
    const again = await takeOne(storage, kind, 'second', now + minute);
    assertSame([again.id, again.attempt, again.dueAt], [id, 2, now + minute]);
    assert.equal(await kind.giveBack(storage, again, now), true);
    assertFields(await kind.take(storage, 'third'), 'id', [id]);
  },

  'of parallel results of one claim exactly one counts, whatever they say': async (storage, kind) => {
    for (let round = 0; round < 10; round += 1) {
      await kind.put(storage, `${round}`);
      const held = await takeOne(storage, kind, `c${round}`);
      const answers = await alternating(round, [
        () => kind.done(storage, held),
        () => kind.giveBack(storage, held, now + hour),
        () => kind.giveBack(storage, held, now + 2 * hour),
        () => kind.done(storage, held),
      ]);
      assertSame(countAnswers(answers), { true: 1, false: 3 });
    }
  },

  'a result and the claim after its end give it to one of them': async (storage, kind) => {
    for (let round = 0; round < 10; round += 1) {
      await kind.put(storage, `${round}`);
      const held = await takeOne(storage, kind, `slow ${round}`);
      let isDone: boolean | undefined;
      let taken: Held[] = [];
      await alternating(round, [
        async () => {
          isDone = await kind.done(storage, held);
        },
        async () => {
          taken = await kind.take(storage, `next ${round}`, now + leaseMs);
        },
      ]);
      assert.equal(taken.length, isDone ? 0 : 1);
      for (const next of taken) assert.equal(await kind.done(storage, next), true);
    }
  },
};

export const leaseCases = Object.entries(kinds).flatMap(([noun, kind]) =>
  casesOf(
    `leases of ${noun}`,
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
