import { describe, expect, it } from 'vitest';
import type { ClaimedJob } from '../../src/storage.ts';
import { quiet, workshop } from './workshop.ts';

describe('a job', () => {
  it('is done once, with its payload, and is gone', async () => {
    const seen: unknown[] = [];
    const { worker, enqueue, due, clock } = await workshop({
      async work(payload, job) {
        seen.push([payload, job.id, job.attempt]);
        return null;
      },
    });
    await enqueue(2);
    expect(await worker().runDue()).toBe(2);
    expect(seen).toEqual([
      [{ index: 0 }, 'work-0', 1],
      [{ index: 1 }, 'work-1', 1],
    ]);
    clock.advance(3_600_000);
    expect(await due()).toEqual([]);
  });

  it('comes again when its handler says so', async () => {
    const { worker, enqueue, clock } = await workshop({ work: async () => ({ dueAt: now() + 5_000 }) });
    const now = () => clock.now();
    await enqueue(1);
    expect(await worker().runDue()).toBe(1);
    clock.advance(4_999);
    expect(await worker().runDue()).toBe(0);
    clock.advance(1);
    expect(await worker().runDue()).toBe(1);
  });

  it('that fails is tried again after 1 s, doubling up to an hour, without end, and hurts no other job', async () => {
    let done = 0;
    const reasons = new Set<unknown>();
    const handlers = {
      work: () => Promise.reject(new RangeError('secret detail')),
      async fine() {
        done += 1;
        return null;
      },
    };
    const { worker, enqueue, clock, lines } = await workshop(handlers, (queue) => ({
      ...queue,
      retry(claim, next) {
        reasons.add(next.error);
        return queue.retry(claim, next);
      },
    }));
    await enqueue(1);
    await enqueue(1, 'fine');
    expect(await worker().runDue()).toBe(2);
    expect(done).toBe(1);
    for (let attempt = 1; attempt <= 14; attempt += 1) {
      const wait = Math.min(1_000 * 2 ** (attempt - 1), 3_600_000);
      clock.advance(wait - 1);
      expect(await worker().runDue()).toBe(0);
      clock.advance(1);
      expect(await worker().runDue()).toBe(1);
    }
    expect(lines).toHaveLength(15);
    expect(new Set(lines)).toEqual(new Set(['warn: a job failed; it is tried again']));
    // The kind of a failure is kept, and no detail.
    expect(reasons).toEqual(new Set(['RangeError']));
  });
});

describe('the lease of a job', () => {
  it('lets nobody else in for 30 s, then hands the job of a worker that died to another one', async () => {
    const attempts: ClaimedJob[] = [];
    const { worker, enqueue, clock } = await workshop({
      work(_payload, job) {
        attempts.push(job);
        return job.attempt === 1 ? new Promise(() => {}) : Promise.resolve(null);
      },
    });
    await enqueue(1);
    void worker().runDue();
    await quiet();
    const other = worker();
    clock.advance(29_999);
    expect(await other.runDue()).toBe(0);
    clock.advance(1);
    expect(await other.runDue()).toBe(1);
    expect(attempts.map((job) => job.attempt)).toEqual([1, 2]);
    expect(attempts[0]?.claimId).not.toBe(attempts[1]?.claimId);
  });
});
