import { describe, expect, it } from 'vitest';
import type { ClaimedJob } from '../../src/storage.ts';
import { settled, workshop } from './workshop.ts';

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

  it('is not begun before it is due, nor by a worker that does not know its kind', async () => {
    const { worker, enqueue, clock, queue } = await workshop({ work: async () => null });
    await queue.enqueue([{ id: 'later', kind: 'work', payload: {}, dueAt: clock.now() + 1 }]);
    await enqueue(1, 'foreign');
    expect(await worker().runDue()).toBe(0);
    clock.advance(1);
    expect(await worker().runDue()).toBe(1);
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
    const { worker, enqueue, clock, lines } = await workshop({
      async work() {
        throw new Error('secret detail');
      },
      async fine() {
        done += 1;
        return null;
      },
    });
    await enqueue(1);
    await enqueue(1, 'fine');
    expect(await worker().runDue()).toBe(2);
    expect(done).toBe(1);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 14; attempt += 1) {
      let waited = 0;
      for (const step of [
        1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 2_048_000,
        3_600_000,
      ]) {
        clock.advance(step - 1 - waited);
        expect(await worker().runDue()).toBe(0);
        clock.advance(1);
        waited = step;
        if ((await worker().runDue()) === 1) break;
      }
      waits.push(waited);
    }
    expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(waits.slice(-2)).toEqual([3_600_000, 3_600_000]);
    expect(lines).toHaveLength(15);
    expect(new Set(lines)).toEqual(new Set(['warn: a job failed; it is tried again']));
  });

  it('keeps the kind of its failure, and no detail', async () => {
    const reasons: unknown[] = [];
    const { worker, enqueue } = await workshop(
      {
        async work() {
          throw new RangeError('secret detail');
        },
      },
      (queue) => ({
        ...queue,
        retry(claim, next) {
          reasons.push(next.error);
          return queue.retry(claim, next);
        },
      }),
    );
    await enqueue(1);
    await worker().runDue();
    expect(reasons).toEqual(['RangeError']);
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
    await settled();
    const other = worker();
    clock.advance(29_999);
    expect(await other.runDue()).toBe(0);
    clock.advance(1);
    expect(await other.runDue()).toBe(1);
    expect(attempts.map((job) => job.attempt)).toEqual([1, 2]);
    expect(attempts[0]?.claimId).not.toBe(attempts[1]?.claimId);
  });

  it('makes a result that comes too late worthless: the one who took over decides', async () => {
    let finish: () => void = () => {};
    const { worker, enqueue, clock, due } = await workshop({
      work: (_payload, job) =>
        job.attempt === 1
          ? new Promise((resolve) => {
              finish = () => resolve(null);
            })
          : Promise.resolve({ dueAt: now() + 60_000 }),
    });
    const now = () => clock.now();
    await enqueue(1);
    const late = worker().runDue();
    await settled();
    clock.advance(30_000);
    expect(await worker().runDue()).toBe(1);
    finish();
    await late;
    clock.advance(60_000);
    expect((await due()).map((job) => job.id)).toEqual(['work-0']);
  });

  it('gives one job to one of several workers that look at once', async () => {
    let runs = 0;
    const { worker, enqueue } = await workshop({
      async work() {
        runs += 1;
        return null;
      },
    });
    await enqueue(5);
    const claimed = await Promise.all(Array.from({ length: 4 }, () => worker().runDue()));
    expect([claimed.reduce((sum, count) => sum + count, 0), runs]).toEqual([5, 5]);
  });
});
