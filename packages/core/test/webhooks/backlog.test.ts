import { describe, expect, it } from 'vitest';
import type { AttemptAnswer } from '../../src/webhooks/client.ts';
import { answered, depot, quiet, watchedStore } from './support/depot.ts';

const silence: AttemptAnswer = {
  ok: false,
  httpStatus: null,
  error: 'timeout',
  response: null,
  durationMs: 10_000,
};

/**
 * A worker whose endpoint has answered three times, in 5 ms each, and then keeps five attempts waiting: five more deliveries
 * are claimed ahead, 60 are left.
 */
async function busyWorker() {
  const answers: ((answer: AttemptAnswer) => void)[] = [];
  let isSlow = false;
  const { wrap, writes, claims } = watchedStore();
  const shop = await depot(wrap);
  await shop.endpoint('a', async () =>
    isSlow ? new Promise((resolve) => answers.push(resolve)) : answered(200),
  );
  await shop.publish('a', 3);
  const worker = shop.dispatcher();
  worker.start();
  await quiet();
  isSlow = true;
  await shop.publish('a', 70);
  worker.wake();
  await quiet();
  expect(shop.requests).toHaveLength(3 + 5);
  writes.length = 0;
  return { ...shop, worker, answers, claims, results: () => writes.flat() };
}

describe('deliveries that are claimed ahead', () => {
  it('begin as soon as an attempt ends, before anything is claimed or written', async () => {
    const { worker, answers, requests, claims } = await busyWorker();
    const before = claims();
    answers.shift()?.(answered(200));
    // The answer widens the lane by one.
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toHaveLength(3 + 5 + 2);
    expect(claims()).toBe(before);
    while (requests.length < 73) {
      for (const answer of answers.splice(0)) answer(answered(200));
      await quiet();
    }
    for (const answer of answers.splice(0)) answer(answered(200));
    await worker.stop();
    expect(new Set(requests.map(({ headers }) => headers['X-SVC-EventId'])).size).toBe(73);
  });

  it('go back at once, without an attempt, when their endpoint does not answer any more', async () => {
    const { worker, answers, requests, results, deliveries, clock } = await busyWorker();
    answers.shift()?.(silence);
    await quiet();
    expect(requests).toHaveLength(3 + 5);
    const [failed, ...waiting] = results();
    expect(failed).toMatchObject({ attempt: { error: 'timeout' } });
    expect(waiting).toHaveLength(5);
    expect(waiting.every(({ attempt, next }) => attempt === null && next.status === 'pending')).toBe(true);
    const due = (await deliveries('a')).filter(({ nextAttemptAt }) => nextAttemptAt === clock.now());
    expect(due, 'all but the one that failed and those that were delivered').toHaveLength(69);
    for (const answer of answers) answer(silence);
    await worker.stop();
  });

  it('go back when the worker stops', async () => {
    const { worker, answers, requests, results } = await busyWorker();
    const stopping = worker.stop();
    await quiet();
    expect(results()).toHaveLength(5);
    for (const answer of answers) answer(answered(200));
    await stopping;
    expect(requests).toHaveLength(3 + 5);
    expect(results().filter(({ attempt }) => attempt !== null)).toHaveLength(5);
  });

  it('go back when they have waited for a second, and are read anew', async () => {
    const { worker, answers, requests, results, clock } = await busyWorker();
    clock.advance(1_000);
    answers.shift()?.(answered(200));
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toHaveLength(3 + 5);
    await quiet();
    expect(results().filter(({ attempt }) => attempt === null)).toHaveLength(5);
    // Claimed anew, with what their endpoint is by now.
    expect(requests.length).toBeGreaterThan(3 + 5);
    for (const answer of answers) answer(answered(200));
    const stopping = worker.stop();
    await quiet();
    for (const answer of answers) answer(answered(200));
    await stopping;
  });
});
