import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { assertFields, assertSame, casesOf, inParallel } from './case.ts';
import { hour, minute, now } from './samples.ts';
import { claim, claimedIds, claimedOne, finish, leaseMs, published, registered } from './webhook-samples.ts';

const day = 24 * hour;
const second = 1_000;

/** Times of the clock before and after it was set back. */
const [before, after] = [now + day, now];

const waits = {
  leaseMs,
  toleranceMs: 5 * second,
  jobs: {
    kinds: { pay: { firstMs: 0, againMs: 0 }, tidy: { firstMs: 2 * minute, againMs: 10 * minute } },
    retryMs: [second, 2 * second, 4 * second],
  },
  deliveries: { delaysMs: [0, minute, 5 * minute] },
};

function bound(storage: Storage, changes: { readonly now?: number; readonly limit?: number } = {}) {
  return storage.boundWaits({ ...waits, now: after, limit: 100, ...changes });
}

const enqueue = ({ queue }: Storage, id: string, kind: string, dueAt: number) =>
  queue.enqueue([{ id, kind, payload: {}, dueAt }]);

const claimJobs = ({ queue }: Storage, claimId: string, at: number) =>
  queue.claim({ kinds: ['pay', 'tidy', 'other'], claimId, now: at, leaseMs, limit: 100 });

/** Claims a job that is due, and hands it back to the queue with another due time. */
async function handBack(storage: Storage, id: string, error: string | null, dueAt: number): Promise<void> {
  const [job, ...others] = await claimJobs(storage, `claim of ${id}`, before);
  assertSame([job?.id, others], [id, []]);
  assert.ok(job);
  assert.equal(await storage.queue.retry(job, { dueAt, error }), true);
}

/** Returns the times at which jobs become due, by job id. */
async function jobsDue(storage: Storage, times: readonly number[]): Promise<Record<string, number>> {
  const due: Record<string, number> = {};
  for (const at of times) {
    for (const { id, dueAt } of await claimJobs(storage, `at ${at}`, at)) due[id] = dueAt;
  }
  return due;
}

/** Test cases of work that was stored before the clock was set back. */
export const waitCases = casesOf('longest waits', {
  'a job becomes due after the longest wait of its kind, a failed one after that of its attempt': async (
    storage,
  ) => {
    await enqueue(storage, 'failed once', 'pay', before);
    await handBack(storage, 'failed once', 'TypeError', before + second);
    await enqueue(storage, 'handed back', 'tidy', before);
    await handBack(storage, 'handed back', null, before + 10 * minute);
    await enqueue(storage, 'new', 'pay', before);
    await enqueue(storage, 'new, later', 'tidy', before);
    await enqueue(storage, 'of another kind', 'other', before);
    assertSame(await jobsDue(storage, [after + hour]), {}, 'they stand still');
    assertSame(await bound(storage), { jobs: 4, deliveries: 0 });
    assertSame(await jobsDue(storage, [after, after + second, after + 2 * minute, after + 10 * minute]), {
      new: after,
      'failed once': after + second,
      'new, later': after + 2 * minute,
      'handed back': after + 10 * minute,
    });
    assert.equal((await jobsDue(storage, [before]))['of another kind'], before);
  },

  'a job that failed more often than there are waits has the last one': async (storage) => {
    await enqueue(storage, 'a', 'pay', before - hour);
    for (let time = 0; time < 5; time += 1) await handBack(storage, 'a', 'TypeError', before - hour);
    assertSame(await bound(storage), { jobs: 1, deliveries: 0 });
    assertSame(await jobsDue(storage, [after + 4 * second]), { a: after + 4 * second });
  },

  'what waits no longer than it can stays as it is, with the tolerance': async (storage) => {
    await enqueue(storage, 'job', 'pay', after + 5 * second);
    await registered(storage, 'a');
    await published(storage, 'x', { createdAt: after + 5 * second });
    const none = { jobs: 0, deliveries: 0 };
    assertSame(await bound(storage), none);
    assertSame(await jobsDue(storage, [after + 5 * second]), { job: after + 5 * second });
    assertSame(await claimedIds(storage, 'c', { now: after + 5 * second }), ['dl_x_1']);
    assertSame(await bound(storage, { now: after + 5 * second }), none, 'leases that have just begun');
  },

  'a lease ends no later than it can, and its claim stays the current one until another one takes over':
    async (storage) => {
      await registered(storage, 'a');
      for (const id of ['1', '2']) {
        await enqueue(storage, id, 'pay', before);
        await published(storage, id, { createdAt: before });
      }
      const [one, two] = (await claimJobs(storage, 'job', before)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const [first, other] = await claim(storage, 'delivery', { now: before });
      assert.ok(one && two && first && other);
      assertSame(await bound(storage), { jobs: 2, deliveries: 2 });
      assertSame(await bound(storage), { jobs: 0, deliveries: 0 }, 'once');
      assertSame(await jobsDue(storage, [after, after + leaseMs - 1]), {});
      assertSame(await claimedIds(storage, 'early', { now: after + leaseMs - 1 }), []);
      assert.equal(await storage.queue.complete(one), true);
      assert.equal(await finish(storage, first, { status: 'delivered' }), true);
      assertFields(await claimJobs(storage, 'next job', after + leaseMs), 'id', ['2']);
      assertSame(await claimedIds(storage, 'next', { now: after + leaseMs }), [other.id]);
      assert.equal(await storage.queue.complete(two), false);
      assert.equal(await finish(storage, other, { status: 'delivered' }), false);
    },

  'a delivery becomes due after the longest wait of its attempt, one that was never tried at once': async (
    storage,
  ) => {
    await registered(storage, 'a');
    await published(storage, 'tried twice', { createdAt: before });
    await finish(storage, await claimedOne(storage, 'c1', { now: before }), {
      status: 'pending',
      dueAt: before,
    });
    await finish(storage, await claimedOne(storage, 'c2', { now: before }), {
      status: 'pending',
      dueAt: before + 5 * minute,
    });
    await published(storage, 'tried', { createdAt: before });
    await finish(storage, await claimedOne(storage, 'c3', { now: before }), {
      status: 'pending',
      dueAt: before + minute,
    });
    await published(storage, 'new', { createdAt: before });
    // Moves a delivery that is not due yet out of the unclaimed ones.
    await published(storage, 'set aside', { createdAt: before });
    assertSame(await claimedIds(storage, 'too early', { now: after }), []);
    await published(storage, 'new as well', { createdAt: before });
    assertSame(await bound(storage), { jobs: 0, deliveries: 5 });
    const fresh = ['dl_new as well_1', 'dl_new_1', 'dl_set aside_1'];
    assertSame((await claimedIds(storage, 'c4', { now: after })).toSorted(), fresh);
    // The leases of the other deliveries have ended by then.
    const later = async (claimId: string, at: number) =>
      (await claim(storage, claimId, { now: at })).filter(({ failures }) => failures > 0);
    assertSame(await later('c5', after + minute - 1), []);
    assertFields(await later('c6', after + minute), 'id', ['dl_tried_1']);
    assertFields(await later('c7', after + 5 * minute), 'dueAt', [after + minute, after + 5 * minute]);
  },

  'endpoints that were served before take their turn as if they had been served now': async (storage) => {
    for (const label of ['a', 'b']) await registered(storage, label, { events: [`of.${label}`] });
    for (const label of ['a', 'b'])
      await published(storage, label, { createdAt: before, type: `of.${label}` });
    assertSame(await claimedIds(storage, 'c1', { now: before, limit: 1 }), ['dl_a_1']);
    await bound(storage);
    for (const number of [1, 2, 3])
      for (const label of ['a', 'b']) await published(storage, `${label}${number}`, { type: `of.${label}` });
    const served: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const at = after + leaseMs - 10 + turn;
      const { endpointId } = await claimedOne(storage, `turn ${turn}`, { now: at, limit: 1 });
      served.push(endpointId);
    }
    assertSame(served, ['we_b', 'we_a', 'we_b', 'we_a']);
  },

  'no call brings more forward than it was told, and calls at once share the work': async (storage) => {
    await registered(storage, 'a');
    for (let index = 0; index < 30; index += 1) {
      await enqueue(storage, `${index}`, 'pay', before);
      await published(storage, `${index}`, { createdAt: before });
    }
    assertSame(await bound(storage, { limit: 4 }), { jobs: 4, deliveries: 4 });
    await inParallel(4, () => bound(storage));
    // The first call may have skipped rows that another call had locked.
    await bound(storage);
    assertSame(await bound(storage), { jobs: 0, deliveries: 0 });
    assert.equal((await claimJobs(storage, 'all', after)).length, 30);
    assert.equal((await claim(storage, 'all', { now: after })).length, 30);
  },
});

/** Sample call of `boundWaits`, which `storage.ts` in this folder makes. */
export const boundWaitsCall = (storage: Storage) => bound(storage);
