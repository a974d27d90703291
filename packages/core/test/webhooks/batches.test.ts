import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AttemptAnswer } from '../../src/webhooks/client.ts';
import { createWriting } from '../../src/webhooks/writing.ts';
import { answered, depot, quiet, watchedStore } from './support/depot.ts';

/** A worker with attempts under way that end when a test says so; it knows their endpoint to answer quickly. */
async function workerWith(attempts: number, concurrency?: number) {
  const waiting: ((answer: AttemptAnswer) => void)[] = [];
  let isHeld = false;
  const { wrap, writes, claims, holdClaims } = watchedStore();
  const shop = await depot(wrap);
  await shop.endpoint('a', async () =>
    isHeld ? new Promise((resolve) => waiting.push(resolve)) : answered(204),
  );
  const worker = shop.dispatcher(concurrency);
  worker.start();
  // One answer more, one attempt more at once.
  await shop.publish('a', attempts);
  worker.wake();
  const open = async () => (await shop.deliveries('a')).filter(({ status }) => status === 'pending');
  await expect.poll(open).toEqual([]);
  isHeld = true;
  await shop.publish('a', attempts);
  worker.wake();
  await expect.poll(() => waiting.length).toBe(attempts);
  writes.length = 0;
  return { ...shop, worker, waiting, claims, holdClaims, writes: () => writes.map(({ length }) => length) };
}

describe('results of attempts', () => {
  it('are written together when one ends after the other without a pause', async () => {
    const { worker, waiting, writes } = await workerWith(100);
    for (const answer of waiting) {
      answer(answered(204));
      await turn();
    }
    await quiet();
    expect(writes().reduce((sum, count) => sum + count)).toBe(100);
    expect(writes().length).toBeLessThan(4);
    await worker.stop();
  });

  it('are written soon when the others take their time', async () => {
    const { worker, waiting, writes } = await workerWith(100);
    for (const answer of waiting.splice(0, 3)) answer(answered(204));
    await quiet();
    expect(writes()).toEqual([3]);
    for (const answer of waiting) answer(answered(204));
    await worker.stop();
  });

  it('are written when half of what a worker may have under way has ended', async () => {
    const { worker, waiting, writes } = await workerWith(30, 40);
    for (const answer of waiting.slice(0, 25)) {
      answer(answered(204));
      await turn();
    }
    expect(writes()[0]).toBeLessThanOrEqual(21);
    for (const answer of waiting.slice(25)) answer(answered(204));
    await worker.stop();
    expect(writes().reduce((sum, count) => sum + count)).toBe(30);
  });

  it('are written in parts of 256 when there are many', async () => {
    const sizes: number[] = [];
    const writing = createWriting({
      deliveries: {
        async finish(results) {
          sizes.push(results.length);
          return results.map(() => true);
        },
      },
      clock: { now: () => 0 },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      schedule: () => () => {},
      concurrency: 1_024,
      isRunning: () => true,
      writing() {},
      written() {},
    });
    for (let ended = 0; ended < 300; ended += 1) {
      writing.expect();
      const next = { status: 'delivered' } as const;
      writing.add({ result: { id: `dl_${ended}`, claimId: 'c', attempt: null, next }, leaseEndsAt: 1 });
    }
    await writing.settled();
    expect(sizes).toEqual([256, 44]);
  });
});

describe('a claim', () => {
  it('is not repeated for a worker that is told to stop meanwhile', async () => {
    const { worker, waiting, claims, holdClaims } = await workerWith(100);
    const before = claims();
    const goOn = holdClaims();
    worker.wake();
    await quiet();
    waiting.shift()?.(answered(204));
    await quiet();
    const ending = worker.stop();
    goOn();
    for (const answer of waiting) answer(answered(204));
    await ending;
    expect(claims() - before).toBe(1);
  });
});
