import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AttemptAnswer } from '../../src/webhooks/http-client.ts';
import { quiet } from '../worker/workshop.ts';
import { answered, byHand, depot, watchedStore } from './support/depot.ts';

const silence: AttemptAnswer = {
  ok: false,
  httpStatus: null,
  error: 'timeout',
  response: null,
  durationMs: 10_000,
};

/**
 * Starts a worker with one endpoint that has responded to `quick` attempts in 5 ms each. Each response raised
 * the number of attempts that may run to the endpoint at once. Later attempts wait until the test responds to
 * them, and `due` deliveries are due.
 */
async function busyWorker(quick: number, due = quick, concurrency = 512) {
  const { wrap, writes, claims, holdClaims } = watchedStore();
  const shop = await depot(wrap);
  const receiver = byHand();
  receiver.isQuick = true;
  await shop.endpoint('a', receiver.behave);
  const worker = await shop.started(concurrency);
  await shop.publish('a', quick);
  worker.wake();
  const open = async () => (await shop.deliveries('a')).filter(({ status }) => status === 'pending');
  await expect.poll(open).toEqual([]);
  receiver.isQuick = false;
  await shop.publish('a', due);
  worker.wake();
  await quiet();
  writes.length = 0;
  return {
    ...{ ...shop, worker, receiver, claims, holdClaims },
    results: () => writes.flat(),
    written: () => writes.map(({ length }) => length),
    /** Stops the worker, and responds to all attempts that are running. */
    async end() {
      const ending = worker.stop();
      await quiet();
      receiver.answer();
      await ending;
    },
  };
}

describe('results of attempts', () => {
  it('are written together when one ends after the other without a pause', async () => {
    const { end, receiver, written } = await busyWorker(100);
    while (receiver.waiting.length > 0) {
      receiver.answer(answered(200), 1);
      await turn();
    }
    await quiet();
    expect(written().reduce((sum, count) => sum + count)).toBe(100);
    expect(written().length).toBeLessThan(4);
    await end();
  });

  it('are written when half of what a worker may have under way has ended', async () => {
    const { end, receiver, written } = await busyWorker(30, 30, 40);
    for (let count = 0; count < 25; count += 1) {
      receiver.answer(answered(200), 1);
      await turn();
    }
    expect(written()[0]).toBeLessThanOrEqual(21);
    await end();
    expect(written().reduce((sum, count) => sum + count)).toBe(30);
  });

  it('are written in parts when their answers are long', async () => {
    const { end, receiver, written } = await busyWorker(120);
    receiver.answer({ ...answered(200), response: 'x'.repeat(80_000) });
    await quiet();
    await end();
    // The first 32 attempts have long responses, and deliveries that were claimed ahead have none.
    expect(written()).toEqual([26, 62, 32]);
  });
});

it('no claim is combined with a write while its endpoints have enough deliveries', async () => {
  const { end, receiver, claims, worker } = await busyWorker(100, 700);
  worker.wake();
  await quiet();
  const before = claims();
  for (let round = 0; round < 5; round += 1) {
    receiver.answer(answered(200), 1);
    await quiet();
  }
  expect(claims()).toBe(before);
  await end();
});

it.each([512, 40])(
  'a worker with %i places claims more without a pause when some become free',
  async (places) => {
    const { end, receiver, claims, holdPauses, results } = await busyWorker(30, 300, places);
    holdPauses();
    const before = claims();
    for (let round = 0; round < 60; round += 1) {
      receiver.answer();
      await quiet();
    }
    expect(results()).toHaveLength(300);
    expect(claims() - before).toBeGreaterThan(1);
    await end();
  },
);

it('a claim is not repeated for a worker that is stopped meanwhile', async () => {
  const { end, worker, receiver, claims, holdClaims } = await busyWorker(100);
  const before = claims();
  const goOn = holdClaims();
  worker.wake();
  await quiet();
  receiver.answer(answered(200), 1);
  await quiet();
  expect(claims() - before).toBe(1);
  const ended = end();
  goOn();
  await quiet();
  expect(claims() - before).toBe(1);
  await ended;
});

/** Tests of a worker with five running attempts, 80 deliveries claimed ahead, and 15 that are not claimed. */
describe('deliveries that are claimed ahead', () => {
  const busy = () => busyWorker(3, 100);

  it('begin as soon as an attempt ends, before anything is claimed or written', async () => {
    const { end, receiver, requests, claims } = await busy();
    expect(requests).toHaveLength(3 + 5);
    const before = claims();
    receiver.answer(answered(200), 1);
    // Each response raises the limit by one.
    await turn();
    expect(requests).toHaveLength(3 + 5 + 2);
    expect(claims()).toBe(before);
    while (requests.length < 103) {
      receiver.answer();
      await quiet();
    }
    await end();
    const inOrder = Array.from({ length: 103 }, (_, index) => `evt_${index + 1}`);
    expect(requests.map(({ headers }) => headers['X-SVC-EventId'])).toEqual(inOrder);
  });

  it('go back at once, without an attempt, when their endpoint does not answer any more', async () => {
    const { end, receiver, requests, results, deliveries, clock } = await busy();
    receiver.answer(silence, 1);
    await quiet();
    expect(requests).toHaveLength(3 + 5);
    const [failed, ...waiting] = results();
    expect(failed).toMatchObject({ attempt: { error: 'timeout' } });
    const unbegun = { attempt: null, next: { status: 'pending' } };
    expect(waiting).toMatchObject(Array(80).fill(unbegun));
    const due = (await deliveries('a')).filter(({ nextAttemptAt }) => nextAttemptAt === clock.now());
    expect(due, 'all but the one that failed and those that were delivered').toHaveLength(99);
    await end();
  });

  it('go back when the worker stops', async () => {
    const { end, receiver, requests, results, worker } = await busy();
    const stopping = worker.stop();
    await quiet();
    expect(results()).toHaveLength(80);
    receiver.answer();
    await stopping;
    expect(requests).toHaveLength(3 + 5);
    expect(results().filter(({ attempt }) => attempt !== null)).toHaveLength(5);
    await end();
  });

  it('are returned after waiting for a second, and read again', async () => {
    const { end, receiver, requests, results, clock } = await busy();
    clock.advance(1_000);
    receiver.answer(answered(200), 1);
    await turn();
    expect(requests).toHaveLength(3 + 5);
    await quiet();
    expect(results().filter(({ attempt }) => attempt === null)).toHaveLength(80);
    // Deliveries are claimed anew, with the current state of their endpoint.
    expect(requests.length).toBeGreaterThan(3 + 5);
    await end();
  });
});
