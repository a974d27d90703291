import { describe, expect, it, vi } from 'vitest';
import type { JobHandler } from '../../src/ports/queue.ts';
import { quiet, workshop } from './workshop.ts';

/** Makes a job handler whose calls a test can count. */
const handler = (result: Awaited<ReturnType<JobHandler>> = null) => vi.fn<JobHandler>(async () => result);

describe('a job', () => {
  it('runs once, with its payload, and is removed, or runs again at the time that its handler returns', async () => {
    const work = handler();
    const { worker, enqueue, due, clock } = await workshop({ work });
    await enqueue(2);
    const again = { dueAt: clock.now() + 5_000 };
    work.mockResolvedValueOnce(again);
    expect(await worker().runDue()).toBe(2);
    expect(work.mock.calls).toMatchObject([
      [{ index: 0 }, { id: 'work-0', attempt: 1 }],
      [{ index: 1 }, { id: 'work-1', attempt: 1 }],
    ]);
    clock.advance(4_999);
    expect(await worker().runDue()).toBe(0);
    clock.advance(1);
    expect(await worker().runDue()).toBe(1);
    clock.advance(3_600_000);
    expect(await due()).toEqual([]);
  });

  it('that fails is tried again after 1 s, doubling up to an hour, without end, and hurts no other job', async () => {
    const reasons = new Set<unknown>();
    const [work, fine] = [handler().mockRejectedValue(new RangeError('secret detail')), handler()];
    const { worker, enqueue, clock, lines } = await workshop({ work, fine }, (queue) => ({
      ...queue,
      retry(claim, next) {
        reasons.add(next.error);
        return queue.retry(claim, next);
      },
    }));
    await enqueue(1);
    await enqueue(1, 'fine');
    expect(await worker().runDue()).toBe(2);
    expect(fine).toHaveBeenCalledTimes(1);
    for (let attempt = 1; attempt <= 14; attempt += 1) {
      const wait = Math.min(1_000 * 2 ** (attempt - 1), 3_600_000);
      clock.advance(wait - 1);
      expect(await worker().runDue()).toBe(0);
      clock.advance(1);
      expect(await worker().runDue()).toBe(1);
    }
    expect(lines).toEqual(Array(15).fill('warn: a job failed; it is tried again'));
    // Only the kind of a failure is stored, without details.
    expect(reasons).toEqual(new Set(['RangeError']));
  });

  it('of a killed worker is given to another one after 30 s, and not before', async () => {
    const work = handler().mockReturnValueOnce(new Promise(() => {}));
    const { worker, enqueue, clock } = await workshop({ work });
    await enqueue(1);
    void worker().runDue();
    await quiet();
    const other = worker();
    clock.advance(29_999);
    expect(await other.runDue()).toBe(0);
    clock.advance(1);
    expect(await other.runDue()).toBe(1);
    const [first, second] = work.mock.calls.map(([, job]) => job);
    expect([first?.attempt, second?.attempt]).toEqual([1, 2]);
    expect(first?.claimId).not.toBe(second?.claimId);
  });
});

describe('a started worker', () => {
  it('polls at once, again without a wait after a full batch, often for a while, and then every second', async () => {
    const work = handler();
    const { worker, enqueue, waits, fire } = await workshop({ work });
    await enqueue(40);
    const started = worker();
    started.start();
    // A second start does not poll twice.
    started.start();
    await quiet();
    expect([work.mock.calls.length, waits()]).toEqual([40, [50]]);
    for (let vain = 1; vain < 100; vain += 1) await fire();
    expect(waits()).toEqual([50]);
    await fire();
    expect(waits()).toEqual([1_000]);
    await enqueue(1);
    await fire();
    expect(waits()).toEqual([50]);
    await started.stop();
    expect(waits()).toEqual([]);
  });

  it('logs it and continues if the queue cannot be read', async () => {
    let broken = true;
    const { worker, enqueue, fire, lines, due } = await workshop({ work: handler() }, (queue) => ({
      ...queue,
      claim: (request) => (broken ? Promise.reject(new Error('database gone')) : queue.claim(request)),
    }));
    await enqueue(1);
    const started = worker();
    started.start();
    await quiet();
    expect(lines).toEqual(['warn: the queue cannot be read; it is tried again']);
    broken = false;
    await fire();
    expect(await due()).toEqual([]);
    expect(lines).toEqual([
      'warn: the queue cannot be read; it is tried again',
      'info: the queue can be read again',
    ]);
    await started.stop();
  });

  it('ends what is under way before stop resolves, and begins nothing more', async () => {
    const finish = Promise.withResolvers<null>();
    const work = handler().mockReturnValue(finish.promise);
    const { worker, enqueue, waits } = await workshop({ work });
    await enqueue(1);
    const started = worker();
    started.start();
    await quiet();
    const stopped = vi.fn();
    const stopping = started.stop().then(stopped);
    await enqueue(2);
    await quiet();
    expect(stopped).not.toHaveBeenCalled();
    finish.resolve(null);
    await stopping;
    expect([work.mock.calls.length, waits()]).toEqual([1, []]);
  });

  it('can be stopped before it was started, twice, and started again', async () => {
    const work = handler();
    const { worker, enqueue } = await workshop({ work });
    const one = worker();
    await one.stop();
    one.start();
    await one.stop();
    await one.stop();
    await enqueue(1);
    one.start();
    await quiet();
    await one.stop();
    expect(work).toHaveBeenCalledTimes(1);
  });
});

describe('jobs of a kind with its own limit', () => {
  it('do not delay others, end before the worker has stopped, and are at most 256 at once', async () => {
    const ends: (() => void)[] = [];
    const abort = vi.fn(() => {
      for (const end of ends) end();
    });
    const slow = vi.fn<JobHandler>(() => new Promise((resolve) => ends.push(() => resolve(null))));
    const work = handler();
    const { worker, enqueue, fire, due } = await workshop({ slow, work }, undefined, {
      atOnce: { slow: 256 },
      abort,
    });
    await enqueue(300, 'slow');
    const own = worker();
    own.start();
    for (let round = 0; round < 12; round += 1) await fire();
    expect(slow).toHaveBeenCalledTimes(256);
    await enqueue(1);
    await fire();
    expect(work).toHaveBeenCalledTimes(1);
    let isStopped = false;
    const stopping = own.stop().then(() => {
      isStopped = true;
    });
    await quiet();
    expect(isStopped).toBe(false);
    await fire(11_000);
    expect(abort).toHaveBeenCalledTimes(1);
    await stopping;
    expect(await due('slow')).toHaveLength(44);
  });

  it('that hang delay neither other kinds nor other jobs of their kind', async () => {
    const hanging = new Promise<null>(() => {});
    const work = handler().mockReturnValueOnce(hanging);
    const pay = handler().mockReturnValueOnce(hanging);
    const atOnce = { pay: 3 };
    const { worker, enqueue, fire } = await workshop({ work, pay }, undefined, { atOnce });
    await enqueue(1);
    await enqueue(1, 'pay');
    worker().start();
    await fire();
    for (const index of [1, 2, 3, 4, 5]) {
      // The first job of each kind hangs for ever; the second is new in every round.
      await enqueue(2);
      await enqueue(2, 'pay');
      await fire();
      expect([work.mock.calls.length, pay.mock.calls.length]).toEqual([index + 1, index + 1]);
    }
  });

  it('are claimed again when a quarter of the places is free, without a wait', async () => {
    const ends: (() => void)[] = [];
    const pay = vi.fn<JobHandler>(() => new Promise((resolve) => ends.push(() => resolve(null))));
    const { worker, enqueue, holdPauses } = await workshop({ pay }, undefined, {
      atOnce: { pay: 8 },
    });
    holdPauses();
    await enqueue(20, 'pay');
    worker().start();
    await quiet();
    expect(pay).toHaveBeenCalledTimes(8);
    for (const end of ends.splice(0, 2)) end();
    await quiet();
    expect(pay).toHaveBeenCalledTimes(10);
  });

  it('whose outcome cannot be stored are logged, and stop nothing', async () => {
    const slow: JobHandler = async () => null;
    const broken = async () => {
      throw new Error('down');
    };
    const { worker, enqueue, lines, waits } = await workshop(
      { slow },
      (queue) => ({ ...queue, claim: (wanted) => queue.claim(wanted), complete: broken, retry: broken }),
      { atOnce: { slow: 256 } },
    );
    await enqueue(1, 'slow');
    const own = worker();
    own.start();
    await quiet();
    await own.stop();
    expect(lines).toContain('warn: what came of a job could not be stored');
    expect(waits()).toEqual([]);
  });

  it('that end in time leave no timer behind when the worker stops', async () => {
    const end = Promise.withResolvers<null>();
    const { worker, enqueue, waits } = await workshop({ slow: () => end.promise }, undefined, {
      atOnce: { slow: 256 },
    });
    await enqueue(1, 'slow');
    const own = worker();
    own.start();
    await quiet();
    const stopping = own.stop();
    await quiet();
    end.resolve(null);
    await stopping;
    expect(waits()).toEqual([]);
  });

  it('are awaited by a call that runs due work', async () => {
    let isDone = false;
    const slow: JobHandler = async () => {
      await quiet();
      isDone = true;
      return null;
    };
    const { worker, enqueue } = await workshop({ slow }, undefined, {
      atOnce: { slow: 256 },
    });
    await enqueue(1, 'slow');
    expect([await worker().runDue(), isDone]).toEqual([1, true]);
  });
});
