import { describe, expect, it } from 'vitest';
import { settled, workshop } from './workshop.ts';

describe('a started worker', () => {
  it('looks at once, again without a wait after a full batch, often for a while, and then every second', async () => {
    let runs = 0;
    const { worker, enqueue, timers } = await workshop({
      async work() {
        runs += 1;
        return null;
      },
    });
    await enqueue(15);
    const started = worker();
    started.start();
    await settled();
    expect([runs, timers.map((timer) => timer.ms)]).toEqual([10, [0]]);
    timers.shift()?.fire();
    await settled();
    expect([runs, timers.map((timer) => timer.ms)]).toEqual([15, [50]]);
    for (let vain = 1; vain < 100; vain += 1) {
      timers.shift()?.fire();
      await settled();
    }
    expect(timers.map((timer) => timer.ms)).toEqual([50]);
    timers.shift()?.fire();
    await settled();
    expect(timers.map((timer) => timer.ms)).toEqual([1_000]);
    await enqueue(1);
    timers.shift()?.fire();
    await settled();
    expect(timers.map((timer) => timer.ms)).toEqual([50]);
    await started.stop();
  });

  it('may be started again while it runs, without looking twice', async () => {
    const { worker, timers } = await workshop({ work: async () => null });
    const started = worker();
    started.start();
    started.start();
    await settled();
    expect(timers).toHaveLength(1);
    await started.stop();
    expect(timers).toHaveLength(0);
  });

  it('says so and goes on when the queue cannot be read', async () => {
    let broken = true;
    const { worker, enqueue, timers, lines, due } = await workshop({ work: async () => null }, (queue) => ({
      ...queue,
      claim: (request) => (broken ? Promise.reject(new Error('database gone')) : queue.claim(request)),
    }));
    await enqueue(1);
    const started = worker();
    started.start();
    await settled();
    expect(lines).toEqual(['warn: the queue cannot be read; it is tried again']);
    broken = false;
    timers.shift()?.fire();
    await settled();
    expect(await due()).toEqual([]);
    await started.stop();
  });

  it('ends what is under way before stop resolves, and begins nothing more', async () => {
    let finish: () => void = () => {};
    let runs = 0;
    const { worker, enqueue, timers } = await workshop({
      work: () =>
        new Promise((resolve) => {
          runs += 1;
          finish = () => resolve(null);
        }),
    });
    await enqueue(1);
    const started = worker();
    started.start();
    await settled();
    let stopped = false;
    const stopping = started.stop().then(() => {
      stopped = true;
    });
    await enqueue(2);
    await settled();
    expect([runs, stopped]).toEqual([1, false]);
    finish();
    await stopping;
    expect([runs, stopped, timers.length]).toEqual([1, true, 0]);
  });

  it('can be stopped before it was started, twice, and started again', async () => {
    let runs = 0;
    const { worker, enqueue } = await workshop({
      async work() {
        runs += 1;
        return null;
      },
    });
    const one = worker();
    await one.stop();
    one.start();
    await one.stop();
    await one.stop();
    await enqueue(1);
    one.start();
    await settled();
    await one.stop();
    expect(runs).toBe(1);
  });
});
