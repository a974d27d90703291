import { expect, it } from 'vitest';
import { quiet, workshop } from './workshop.ts';

/** A workshop whose jobs are counted. */
async function counting(
  ...given: Parameters<typeof workshop> extends [unknown, ...infer Rest] ? Rest : never
) {
  let runs = 0;
  const work = async () => {
    runs += 1;
    return null;
  };
  const shop = await workshop({ work }, ...given);
  return { ...shop, runs: () => runs };
}

it('a started worker looks at once, again without a wait after a full batch, often for a while, and then every second', async () => {
  const { worker, enqueue, runs, waits, fire } = await counting();
  await enqueue(15);
  const started = worker();
  started.start();
  // Nothing is looked at twice.
  started.start();
  await quiet();
  expect([runs(), waits()]).toEqual([10, [0]]);
  await fire();
  expect([runs(), waits()]).toEqual([15, [50]]);
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

it('a worker says so and goes on when the queue cannot be read', async () => {
  let broken = true;
  const { worker, enqueue, fire, lines, due } = await counting((queue) => ({
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
  await started.stop();
});

it('what is under way ends before stop resolves, and nothing more begins', async () => {
  const finish = Promise.withResolvers<null>();
  let runs = 0;
  const { worker, enqueue, timers } = await workshop({
    work() {
      runs += 1;
      return finish.promise;
    },
  });
  await enqueue(1);
  const started = worker();
  started.start();
  await quiet();
  let stopped = false;
  const stopping = started.stop().then(() => {
    stopped = true;
  });
  await enqueue(2);
  await quiet();
  expect([runs, stopped]).toEqual([1, false]);
  finish.resolve(null);
  await stopping;
  expect([runs, stopped, timers.length]).toEqual([1, true, 0]);
});

it('a worker can be stopped before it was started, twice, and started again', async () => {
  const { worker, enqueue, runs } = await counting();
  const one = worker();
  await one.stop();
  one.start();
  await one.stop();
  await one.stop();
  await enqueue(1);
  one.start();
  await quiet();
  await one.stop();
  expect(runs()).toBe(1);
});
