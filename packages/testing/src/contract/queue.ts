import assert from 'node:assert/strict';
import type { NewJob, OwnerName, Queue, Shares } from '@ostiary/core/storage';
import { assertSame, type Calls, casesOf } from './case.ts';
import { now } from './samples.ts';

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
    assertSame(await claim(queue, 'claim 1'), [{ ...job, owner: '', claimId: 'claim 1', attempt: 1 }]);
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
    assertSame(await claimedIds(queue, '3', { kinds, limit: 2 }), ['first', 'second']);
    assertSame(await claimedIds(queue, '4', { kinds, limit: 3 }), ['third', 'fourth']);
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

  'owners share the places of a kind, the host takes what is free, and test mode comes last': async ({
    queue,
  }) => {
    const owners: OwnerName[] = ['test:acme', 'live:acme', 'live:bolt'];
    const jobs = owners.flatMap((owner) =>
      Array.from({ length: 20 }, (_, index) =>
        sampleJob(`${owner} ${index}`, { owner, dueAt: now - 100 + index }),
      ),
    );
    await queue.enqueue([...jobs, sampleJob('other', { kind: 'mail', dueAt: now - 1 })]);
    const counted = async (
      claimId: string,
      free: Shares['free'],
      most: [OwnerName, number][] = [],
      limit = 100,
    ) => {
      const shares = new Map([['delivery', { free, most: new Map(most) }]]);
      const claimed = await claim(queue, claimId, { shares, limit, kinds: ['delivery', 'mail'] });
      const isTest = claimed.map(({ owner }) => owner.startsWith('test:'));
      assertSame(isTest, isTest.toSorted(), 'test mode is last');
      return ['live:acme', 'live:bolt', 'test:acme', ''].map(
        (name) => claimed.filter(({ owner }) => owner === name).length,
      );
    };
    assertSame(await counted('c1', { live: 16, test: 8 }), [4, 4, 2, 1]);
    assertSame(
      await counted('c2', { live: 15, test: 3 }, [
        ['live:acme', 0],
        ['live:bolt', 3],
      ]),
      [0, 3, 1, 0],
    );
    assertSame(await counted('c3', { live: 1, test: 0 }), [1, 0, 0, 0]);
    assertSame(await counted('c4', { live: 0, test: 0 }), [0, 0, 0, 0]);
    await queue.enqueue(
      [1, 2, 3, 4].map((number) => sampleJob(`own ${number}`, { dueAt: now - 500 + number })),
    );
    assertSame(await counted('c5', { live: 4, test: 2 }), [0, 0, 0, 4]);
    assertSame(await counted('c6', { live: 40, test: 20 }, [], 12), [7, 5, 0, 0]);
    assert.equal(
      (await claimedIds(queue, 'c7', { limit: 3 })).length,
      3,
      'without shares the limit alone counts',
    );
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
    assert.equal(await queue.complete({ id: 'a', claimId: 'claim 1' }), true);
    await queue.enqueue([sampleJob('a')]);
    assert.equal(
      (await claim(queue, 'claim 3'))[0]?.attempt,
      1,
      'the id of a job that is done is free again',
    );
    await queue.enqueue([]);
  },
});

/** Sample calls of each method of this store; `storage.ts` in this folder collects them. */
export const queueCalls: Calls<'queue'> = {
  enqueue: ({ queue }) => queue.enqueue([{ id: 'a', kind: 'k', payload: {}, dueAt: now }]),
  claim: ({ queue }) => queue.claim({ kinds: ['k'], claimId: 'c', now, leaseMs: 1, limit: 1 }),
  complete: ({ queue }) => queue.complete({ id: 'a', claimId: 'c' }),
  retry: ({ queue }) => queue.retry({ id: 'a', claimId: 'c' }, { dueAt: now, error: null }),
};
