import { describe, expect, it } from 'vitest';
import type { DeliveryResult } from '../../src/storage.ts';
import { answered, depot, hangs, quiet, watchedStore } from './support/depot.ts';

describe('a started dispatcher', () => {
  it('delivers what is due, then looks often for a while, later every second, and whenever it is woken', async () => {
    const { dispatcher, endpoint, publish, requests, timers } = await depot();
    await endpoint('a');
    await publish('a', 3);
    const worker = dispatcher();
    worker.start();
    await quiet();
    expect(requests).toHaveLength(3);
    await publish('a');
    await quiet();
    expect(requests).toHaveLength(3);
    worker.wake();
    await quiet();
    expect(requests).toHaveLength(4);
    await publish('a');
    // Something was found: the next look comes soon.
    expect(timers.map(({ ms }) => ms)).toEqual([50]);
    timers.shift()?.fire();
    await quiet();
    expect(requests).toHaveLength(5);
    for (let vain = 0; vain < 100; vain += 1) {
      timers.shift()?.fire();
      await quiet();
    }
    expect(timers.map(({ ms }) => ms)).toEqual([1_000]);
    await worker.stop();
    expect(timers).toEqual([]);
  });

  it('does not look where a look is under way, unless it is woken', async () => {
    const { wrap, claims, holdClaims } = watchedStore();
    const { dispatcher, endpoint, publish, timers } = await depot(wrap);
    await endpoint('a');
    await publish('a');
    const worker = dispatcher();
    worker.start();
    await quiet();
    for (const isWoken of [false, true]) {
      const before = claims();
      const goOn = holdClaims();
      worker.wake();
      timers.shift()?.fire();
      if (isWoken) worker.wake();
      goOn();
      await quiet();
      expect(claims() - before).toBe(isWoken ? 2 : 1);
    }
    await worker.stop();
  });

  it('delivers a backlog of thousands without waiting for a timer', async () => {
    const { dispatcher, endpoint, publish, requests, deliveries } = await depot();
    await endpoint('a');
    await publish('a', 2_000);
    const worker = dispatcher(64);
    worker.start();
    while (requests.length < 2_000) await quiet();
    await worker.stop();
    expect((await deliveries('a')).every(({ status }) => status === 'delivered')).toBe(true);
    expect(new Set(requests.map(({ headers }) => headers['X-SVC-EventId'])).size).toBe(2_000);
  });

  it('serves a healthy endpoint at once while 99 others hang with a backlog', async () => {
    const { dispatcher, endpoint, publish, requests } = await depot();
    for (let dead = 0; dead < 99; dead += 1) {
      await endpoint(`dead${dead}`, hangs);
      await publish(`dead${dead}`, 20);
    }
    await endpoint('healthy');
    const worker = dispatcher();
    worker.start();
    await quiet();
    const healthy = () => requests.filter(({ url }) => url === 'https://healthy.example/').length;
    for (let round = 1; round <= 50; round += 1) {
      await publish('healthy');
      worker.wake();
      await quiet();
      expect(healthy()).toBe(round);
    }
    // Two of each while nothing is known of them.
    expect(requests.length - healthy()).toBe(2 * 99);
    void worker.stop();
  });
});

describe('a claim that is cut off by the room that is left', () => {
  it('is followed by another one at once, for endpoints that it did not reach', async () => {
    const { dispatcher, endpoint, publish, requests } = await depot();
    await endpoint('healthy');
    await publish('healthy');
    const worker = dispatcher(64);
    worker.start();
    await quiet();
    for (let dead = 10; dead < 40; dead += 1) {
      await endpoint(`dead${dead}`, hangs);
      await publish(`dead${dead}`, 2);
    }
    await publish('healthy');
    worker.wake();
    await quiet();
    expect(requests.filter(({ url }) => url === 'https://healthy.example/')).toHaveLength(2);
    void worker.stop();
  });
});

describe('stopping', () => {
  it('lets attempts end, and writes their results', async () => {
    let answer: () => void = () => {};
    const { dispatcher, endpoint, publish, deliveries, requests } = await depot();
    await endpoint(
      'a',
      () =>
        new Promise((resolve) => {
          answer = () => resolve(answered(200));
        }),
    );
    await publish('a');
    const worker = dispatcher();
    worker.start();
    await quiet();
    let stopped = false;
    const stopping = worker.stop().then(() => {
      stopped = true;
    });
    await publish('a');
    await quiet();
    expect(stopped).toBe(false);
    answer();
    await stopping;
    expect(requests).toHaveLength(1);
    expect((await deliveries('a')).map(({ status }) => status).sort()).toEqual(['delivered', 'pending']);
  });

  it('hands back what does not end within five seconds, for another worker to take at once', async () => {
    const { dispatcher, endpoint, publish, deliveries, timers, requests } = await depot();
    await endpoint('a', hangs);
    await publish('a');
    const worker = dispatcher();
    worker.start();
    await quiet();
    const stopping = worker.stop();
    await quiet();
    timers.find(({ ms }) => ms === 5_000)?.fire();
    await stopping;
    expect((await deliveries('a'))[0]).toMatchObject({ status: 'pending', attempts: [] });
    const other = dispatcher();
    other.start();
    await quiet();
    expect(requests).toHaveLength(2);
    expect(requests[1]?.headers['X-SVC-Attempt']).toBe('1');
    void other.stop();
    await quiet();
  });
});

describe('a database that fails', () => {
  it('keeps results until they can be written, and claims nothing beyond its room meanwhile', async () => {
    let broken = true;
    const { dispatcher, endpoint, publish, deliveries, timers, lines, requests } = await depot((store) => ({
      ...store,
      finish: (results) => (broken ? Promise.reject(new Error('gone')) : store.finish(results)),
    }));
    await endpoint('a');
    await publish('a', 10);
    const worker = dispatcher(4);
    worker.start();
    await quiet();
    const before = requests.length;
    expect(before).toBeLessThanOrEqual(4);
    expect(lines).toContain('warn: results of deliveries could not be written');
    broken = false;
    timers.find(({ ms }) => ms === 500)?.fire();
    await quiet();
    await worker.stop();
    const all = await deliveries('a');
    expect(all.filter(({ status }) => status === 'delivered')).toHaveLength(10);
    expect(all.every(({ attempts }) => attempts.length === 1)).toBe(true);
    expect(requests).toHaveLength(10);
  });

  it('leaves what it could not write to the next worker, when it is stopped', async () => {
    const { dispatcher, endpoint, publish, deliveries, timers } = await depot((store) => ({
      ...store,
      finish: () => Promise.reject(new Error('gone')),
    }));
    await endpoint('a');
    await publish('a');
    const worker = dispatcher();
    worker.start();
    await quiet();
    const stopping = worker.stop();
    await quiet();
    timers.find(({ ms }) => ms === 500)?.fire();
    await stopping;
    expect((await deliveries('a'))[0]).toMatchObject({ status: 'pending', attempts: [] });
  });

  it('writes the others when one result is not taken, and gives that one up when its lease ends', async () => {
    const { dispatcher, endpoint, publish, deliveries, timers, clock, requests } = await depot((store) => ({
      ...store,
      finish: (results) =>
        results.some(({ id }) => id === 'dl_3_1') ? Promise.reject(new Error('no')) : store.finish(results),
    }));
    await endpoint('a');
    await publish('a', 8);
    const worker = dispatcher();
    worker.start();
    await quiet();
    for (let tries = 0; tries < 10; tries += 1) {
      timers.find(({ ms }) => ms === 500)?.fire();
      await quiet();
    }
    const statuses = async () =>
      Object.fromEntries((await deliveries('a')).map(({ id, status }) => [id, status]));
    expect(Object.entries(await statuses()).filter(([, status]) => status === 'pending')).toEqual([
      ['dl_3_1', 'pending'],
    ]);
    expect(requests).toHaveLength(8);
    clock.advance(30_000);
    for (const { ms, fire } of [...timers]) if (ms === 500) fire();
    await quiet();
    worker.wake();
    await quiet();
    expect(requests).toHaveLength(9);
    expect(requests[8]?.headers['X-SVC-EventId']).toBe('evt_3');
    void worker.stop();
  });

  it('says so when nothing can be claimed, and tries again a second later', async () => {
    let broken = true;
    const { dispatcher, endpoint, publish, timers, lines, requests } = await depot((store) => ({
      ...store,
      claim: (request) => (broken ? Promise.reject(new Error('gone')) : store.claim(request)),
    }));
    await endpoint('a');
    await publish('a');
    const worker = dispatcher();
    worker.start();
    await quiet();
    expect(lines).toEqual(['warn: deliveries cannot be claimed; it is tried again']);
    broken = false;
    timers.shift()?.fire();
    await quiet();
    expect(requests).toHaveLength(1);
    await worker.stop();
  });
});

describe('two workers', () => {
  it('make each attempt once, and a late result of a lost claim changes nothing', async () => {
    const written: boolean[][] = [];
    const finished: DeliveryResult[] = [];
    let answer: () => void = () => {};
    const { dispatcher, endpoint, publish, deliveries, clock, requests, storage, owner } = await depot(
      (store) => ({
        ...store,
        async finish(results) {
          finished.push(...results);
          const outcome = await store.finish(results);
          written.push(outcome);
          return outcome;
        },
      }),
    );
    let slow = true;
    await endpoint('a', async () => {
      if (!slow) return answered(500);
      slow = false;
      return new Promise((resolve) => {
        answer = () => resolve(answered(200));
      });
    });
    await publish('a');
    const first = dispatcher();
    const second = dispatcher();
    first.start();
    second.start();
    await quiet();
    expect(requests).toHaveLength(1);
    // The first worker is stuck for longer than its lease.
    clock.advance(30_000);
    second.wake();
    await quiet();
    expect(requests).toHaveLength(2);
    expect(written).toEqual([[true]]);
    answer();
    await quiet();
    expect(written).toEqual([[true], [false]]);
    const [delivery] = await deliveries('a');
    expect(delivery).toMatchObject({ status: 'pending', attempts: [{ number: 1, httpStatus: 500 }] });
    await Promise.all([first.stop(), second.stop()]);
    expect(
      await storage.deliveries.list({
        ...owner,
        endpointId: 'a',
        eventId: null,
        status: 'delivered',
        after: null,
        limit: 1,
      }),
    ).toEqual([]);
    expect(finished).toHaveLength(2);
  });
});

describe('what is this service’s fault', () => {
  it('costs a delivery no attempt: a secret that cannot be opened, a client that breaks', async () => {
    const { dispatcher, endpoint, publish, deliveries, clock, lines } = await depot();
    await endpoint('a', () => Promise.reject(new Error('a defect')));
    await publish('a');
    const worker = dispatcher();
    expect(await worker.runDue()).toBe(1);
    expect(lines).toEqual(['error: an attempt broke off; it is made again']);
    expect((await deliveries('a'))[0]).toMatchObject({
      status: 'pending',
      attempts: [],
      nextAttemptAt: clock.now() + 60_000,
    });
  });
});
