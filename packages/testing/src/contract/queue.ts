import assert from 'node:assert/strict';
import type { NewJob, Queue } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf, countAnswers, inParallel } from './case.ts';
import { minute, now } from './samples.ts';

const leaseMs = 30_000;

function sampleJob(id: string, changes: Partial<NewJob> = {}): NewJob {
  return { id, kind: 'delivery', payload: { of: id }, dueAt: now, ...changes };
}

function claim(queue: Queue, claimId: string, changes: Partial<Parameters<Queue['claim']>[0]> = {}) {
  return queue.claim({ kinds: ['delivery'], claimId, now, leaseMs, limit: 100, ...changes });
}

async function claimedIds(
  queue: Queue,
  claimId: string,
  changes: Partial<Parameters<Queue['claim']>[0]> = {},
) {
  return (await claim(queue, claimId, changes)).map((job) => job.id);
}

export const queueCases = casesOf('queue', {
  'a job is handed out as it was stored': async ({ queue }) => {
    const job = sampleJob('a', { payload: { list: [1, null, { deep: '🗝️' }], text: "it's" }, dueAt: now - 5 });
    await queue.enqueue([job]);
    assertSame(await claim(queue, 'claim 1'), [{ ...job, claimId: 'claim 1', attempt: 1 }]);
  },

  'a job is due at its exact millisecond': async ({ queue }) => {
    await queue.enqueue([sampleJob('a', { dueAt: now + minute })]);
    assertSame(await claimedIds(queue, 'early', { now: now + minute - 1 }), []);
    assertSame(await claimedIds(queue, 'on time', { now: now + minute }), ['a']);
  },

  'the oldest due jobs of the asked kinds come first, up to the limit': async ({ queue }) => {
    await queue.enqueue([
      sampleJob('third', { dueAt: now - 1 }),
      sampleJob('other kind', { dueAt: now - 9, kind: 'Delivery' }),
      sampleJob('first', { dueAt: now - 4, kind: 'mail' }),
      sampleJob('future', { dueAt: now + 1 }),
      sampleJob('second', { dueAt: now - 2 }),
      sampleJob('fourth', { dueAt: now, kind: 'mail' }),
    ]);
    const kinds = ['mail', 'delivery', 'mail', 'unknown'];
    assertSame(await claimedIds(queue, '1', { kinds: [] }), []);
    assertSame(await claimedIds(queue, '2', { kinds: ['unknown'] }), []);
    assertSame(await claimedIds(queue, '3', { kinds, limit: 3 }), ['first', 'second', 'third']);
    assertSame(await claimedIds(queue, '4', { kinds, limit: 3 }), ['fourth']);
  },

  'jobs that cannot be claimed do not use up the limit': async ({ queue }) => {
    const jobs = Array.from({ length: 6 }, (_, index) => sampleJob(`${index}`, { dueAt: now - 10 + index }));
    await queue.enqueue(jobs);
    assertSame(await claimedIds(queue, 'held', { limit: 2 }), ['0', '1']);
    const [third] = await claim(queue, 'later', { limit: 1 });
    assert.ok(third);
    await queue.retry(third, { dueAt: now + 1, error: 'gone' });
    assertSame(await claimedIds(queue, 'rest', { limit: 2 }), ['3', '4']);
  },

  'an id that is stored is left as it is': async ({ queue }) => {
    await queue.enqueue([sampleJob('a'), sampleJob('a', { payload: { second: true } })]);
    await queue.enqueue([sampleJob('a', { dueAt: now - 5 }), sampleJob('b'), sampleJob('A')]);
    const jobs = await claim(queue, 'claim 1');
    assertSame(jobs.map((job) => job.id).toSorted(), ['A', 'a', 'b']);
    assertSame(jobs.find((job) => job.id === 'a')?.payload, { of: 'a' });
    assert.equal(jobs.find((job) => job.id === 'a')?.dueAt, now);
    await queue.enqueue([sampleJob('a')]);
    assertSame(await claim(queue, 'claim 2'), [], 'held jobs are stored jobs');
    await queue.enqueue([]);
  },

  'parallel claims never share a job': async ({ queue }) => {
    await queue.enqueue(Array.from({ length: 100 }, (_, index) => sampleJob(`job ${index}`)));
    const claims = await inParallel(12, (index) => claim(queue, `claim ${index}`, { limit: 15 }));
    for (const [index, jobs] of claims.entries()) {
      assert.ok(jobs.length <= 15);
      for (const job of jobs) assertSame([job.claimId, job.attempt], [`claim ${index}`, 1]);
    }
    const ids = claims.flat().map((job) => job.id);
    assert.equal(ids.length, 100);
    assert.equal(new Set(ids).size, 100);
  },

  'a lease ends at its exact millisecond, and the next claim counts one more': async ({ queue }) => {
    await queue.enqueue([sampleJob('a')]);
    await claim(queue, 'first');
    assertSame(await claim(queue, 'early', { now: now + leaseMs - 1 }), []);
    const again = await claim(queue, 'second', { now: now + leaseMs });
    assertSame(again, [{ ...sampleJob('a'), claimId: 'second', attempt: 2 }]);
    assertSame(await claim(queue, 'third', { now: now + 2 * leaseMs - 1 }), []);
  },

  'of parallel claims after a lease exactly one takes over': async ({ queue }) => {
    await queue.enqueue([sampleJob('a')]);
    await claim(queue, 'dead');
    const claims = await inParallel(10, (index) => claim(queue, `claim ${index}`, { now: now + leaseMs }));
    assert.equal(claims.flat().length, 1);
  },

  'results of an earlier claim are refused and change nothing': async ({ queue }) => {
    await queue.enqueue([sampleJob('a')]);
    await claim(queue, 'first');
    await claim(queue, 'second', { now: now + leaseMs });
    for (const old of [
      { id: 'a', claimId: 'first' },
      { id: 'a', claimId: 'forged' },
      { id: 'b', claimId: 'second' },
    ]) {
      assert.equal(await queue.complete(old), false);
      assert.equal(await queue.retry(old, { dueAt: now, error: null }), false);
    }
    assertSame(await claim(queue, 'third', { now: now + leaseMs + 1 }), [], 'the second still holds it');
    assert.equal(await queue.complete({ id: 'a', claimId: 'second' }), true);
  },

  'a result after the lease counts while nobody took over': async ({ queue }) => {
    await queue.enqueue([sampleJob('a')]);
    await claim(queue, 'slow');
    assert.equal(await queue.complete({ id: 'a', claimId: 'slow' }), true);
    assertSame(await claim(queue, 'later', { now: now + leaseMs }), []);
  },

  'a completed job is gone, once': async ({ queue }) => {
    await queue.enqueue([sampleJob('a')]);
    await claim(queue, 'claim 1');
    const answers = await inParallel(10, () => queue.complete({ id: 'a', claimId: 'claim 1' }));
    assertSame(countAnswers(answers), { true: 1, false: 9 });
    assertSame(await claim(queue, 'claim 2', { now: now + leaseMs }), []);
    await queue.enqueue([sampleJob('a')]);
    assert.equal((await claim(queue, 'claim 3'))[0]?.attempt, 1, 'its id is free again');
  },

  'a retried job is due when it was told, and its attempts go on': async ({ queue }) => {
    await queue.enqueue([sampleJob('a')]);
    await claim(queue, 'first');
    const held = { id: 'a', claimId: 'first' };
    assert.equal(await queue.retry(held, { dueAt: now + minute, error: 'answered 500' }), true);
    assert.equal(await queue.retry(held, { dueAt: now, error: null }), false, 'handed back is handed back');
    assert.equal(await queue.complete(held), false);
    assertSame(await claim(queue, 'early', { now: now + minute - 1 }), []);
    const again = await claim(queue, 'second', { now: now + minute });
    assertSame(again, [{ ...sampleJob('a'), dueAt: now + minute, claimId: 'second', attempt: 2 }]);
    assert.equal(await queue.retry({ id: 'a', claimId: 'second' }, { dueAt: now, error: null }), true);
    assertSame(await claimedIds(queue, 'third'), ['a']);
  },
});

/** Each call of this port, as `storage.ts` beside this file tries it. */
export const queueCalls: Calls<'queue'> = {
  enqueue: ({ queue }) => queue.enqueue([{ id: 'a', kind: 'k', payload: {}, dueAt: now }]),
  claim: ({ queue }) => queue.claim({ kinds: ['k'], claimId: 'c', now, leaseMs: 1, limit: 1 }),
  complete: ({ queue }) => queue.complete({ id: 'a', claimId: 'c' }),
  retry: ({ queue }) => queue.retry({ id: 'a', claimId: 'c' }, { dueAt: now, error: null }),
};
