import { describe, expect, it } from 'vitest';
import { quiet } from '../worker/workshop.ts';
import { answered, type Behaviour, byHand, depot, hangs, watchedStore } from './support/depot.ts';

const gone = () => Promise.reject(new Error('gone'));

describe('a started dispatcher', () => {
  it('delivers due events, then polls often for a while, later every second, and whenever it is woken', async () => {
    const { started, endpoint, publish, requests, waits, fire } = await depot();
    await endpoint('a');
    await publish('a', 3);
    const worker = await started();
    expect(requests).toHaveLength(3);
    await publish('a');
    await quiet();
    expect(requests).toHaveLength(3);
    worker.wake();
    await quiet();
    expect(requests).toHaveLength(4);
    await publish('a');
    // Work was found, so that the next poll comes soon.
    expect(waits()).toEqual([50]);
    await fire();
    expect(requests).toHaveLength(5);
    for (let vain = 0; vain < 100; vain += 1) await fire();
    expect(waits()).toEqual([1_000]);
    await worker.stop();
    expect(waits()).toEqual([]);
  });

  it('does not poll during a poll, unless it is woken', async () => {
    const { wrap, claims, holdClaims } = watchedStore();
    const { started, endpoint, publish, fire } = await depot(wrap);
    await endpoint('a');
    await publish('a');
    const worker = await started();
    for (const isWoken of [false, true]) {
      const before = claims();
      const goOn = holdClaims();
      worker.wake();
      await fire();
      if (isWoken) worker.wake();
      goOn();
      await quiet();
      expect(claims() - before).toBe(isWoken ? 2 : 1);
    }
    await worker.stop();
  });

  it('delivers a backlog of thousands without waiting for a timer', async () => {
    const { started, endpoint, publish, requests, deliveries } = await depot();
    await endpoint('a');
    await publish('a', 2_000);
    const worker = await started(64);
    while (requests.length < 2_000) await quiet();
    await worker.stop();
    expect((await deliveries('a')).every(({ status }) => status === 'delivered')).toBe(true);
    expect(new Set(requests.map(({ headers }) => headers['X-SVC-EventId'])).size).toBe(2_000);
  });

  it('serves a healthy endpoint at once while 499 others of eleven partners hang with a backlog', async () => {
    const { started, endpoint, publish, requests } = await depot();
    await endpoint('healthy');
    await publish('healthy');
    const worker = await started();
    for (let dead = 0; dead < 499; dead += 1) {
      // The first 49 endpoints have the same partner as the healthy one.
      const partner = dead < 49 ? 'acme' : `other-${dead % 10}`;
      await endpoint(`dead${dead}`, hangs, { partner });
      await publish(`dead${dead}`, 4, { partner });
    }
    const healthy = () => requests.filter(({ url }) => url === 'https://healthy.example/').length;
    for (let round = 2; round <= 50; round += 1) {
      await publish('healthy');
      worker.wake();
      await quiet();
      expect(healthy()).toBe(round);
    }
    const hanging = requests.filter(({ url }) => url.startsWith('https://dead'));
    // Three quarters of the worker's places, two per endpoint while its behaviour is unknown.
    expect(hanging).toHaveLength(384);
    expect(new Set(hanging.map(({ url }) => url)).size).toBe(384 / 2);
    void worker.stop();
  });

  it.each(['live', 'test'] as const)(
    'serves other partners at once while %s endpoints hang that were quick before',
    async (mode) => {
      const { started, endpoint, publish, requests } = await depot();
      const receiver = byHand();
      receiver.isQuick = true;
      const flooding = Array.from({ length: 50 }, (_, index) => `flood${index}`);
      for (const id of flooding) await endpoint(id, receiver.behave, { partner: 'flood', mode });
      const worker = await started();
      for (let answers = 0; answers < 12; answers += 1) {
        for (const id of flooding) await publish(id, 1, { partner: 'flood', mode });
        worker.wake();
        await quiet();
      }
      receiver.isQuick = false;
      for (const id of flooding) await publish(id, 40, { partner: 'flood', mode });
      worker.wake();
      await quiet();
      for (const partner of ['one', 'two', 'three']) {
        await endpoint(partner, hangs, { partner });
        await publish(partner, 1, { partner });
        worker.wake();
        await quiet();
        expect(requests.at(-1)?.url).toBe(`https://${partner}.example/`);
      }
      // One partner gets at most half of the worker's places, a quarter in test mode.
      expect(receiver.waiting.length).toBeLessThanOrEqual(mode === 'live' ? 256 : 128);
      void worker.stop();
    },
  );
});

describe('stopping', () => {
  it('lets attempts end, and writes their results', async () => {
    const { started, endpoint, publish, deliveries, requests } = await depot();
    const receiver = byHand();
    await endpoint('a', receiver.behave);
    await publish('a');
    const worker = await started();
    let stopped = false;
    const stopping = worker.stop().then(() => {
      stopped = true;
    });
    await publish('a');
    await quiet();
    expect(stopped).toBe(false);
    receiver.answer();
    await stopping;
    expect(requests).toHaveLength(1);
    expect((await deliveries('a')).map(({ status }) => status).sort()).toEqual(['delivered', 'pending']);
  });

  it('waits for an attempt that gets a response after seven seconds, so that nothing is sent twice', async () => {
    const { started, endpoint, publish, deliveries, waits, requests } = await depot();
    const receiver = byHand();
    await endpoint('a', receiver.behave);
    await publish('a');
    const stopping = (await started()).stop();
    await quiet();
    // The attempt is not interrupted sooner.
    expect(waits()).toEqual([11_000]);
    receiver.answer();
    await stopping;
    const other = await started();
    expect(requests.map(({ headers }) => headers['X-SVC-Attempt'])).toEqual(['1']);
    expect(await deliveries('a')).toMatchObject([{ status: 'delivered', attempts: [{ number: 1 }] }]);
    void other.stop();
    await quiet();
  });

  it('hands back what it was just claiming', async () => {
    const claiming = Promise.withResolvers<void>();
    const { started, endpoint, publish, deliveries, requests } = await depot((store) => ({
      ...store,
      claim: async (request) => {
        const claimed = await store.claim(request);
        await claiming.promise;
        return claimed;
      },
    }));
    await endpoint('a');
    await publish('a');
    const stopping = (await started()).stop();
    claiming.resolve();
    await stopping;
    expect(requests).toEqual([]);
    expect(await deliveries('a')).toMatchObject([{ status: 'pending', attempts: [] }]);
    const other = await started();
    expect(await deliveries('a')).toMatchObject([{ status: 'delivered', attempts: [{ number: 1 }] }]);
    void other.stop();
    await quiet();
  });

  it('counts what it cuts off after eleven seconds, and another worker makes the next attempt at once', async () => {
    const { started, endpoint, publish, deliveries, fire, requests } = await depot();
    await endpoint('a', hangs);
    await publish('a');
    const stopping = (await started()).stop();
    await quiet();
    await fire(11_000);
    await stopping;
    expect(await deliveries('a')).toMatchObject([
      { status: 'pending', attempts: [{ number: 1, error: 'aborted', httpStatus: null }] },
    ]);
    const other = await started();
    expect(requests.map(({ headers }) => headers['X-SVC-Attempt'])).toEqual(['1', '2']);
    void other.stop();
    await quiet();
  });

  it('counts no aborted attempt against an endpoint', async () => {
    const { started, dispatcher, endpoint, publish, deliveries, clock, fire, requests } = await depot();
    let behaviour: Behaviour = hangs;
    await endpoint('a', (request) => behaviour(request));
    await publish('a');
    for (const _ of [1, 2, 3]) {
      const stopping = (await started()).stop();
      await quiet();
      await fire(11_000);
      await stopping;
    }
    behaviour = async () => answered(503);
    await dispatcher().runDue();
    // The next attempt is due after the first retry delay.
    expect(await deliveries('a')).toMatchObject([{ status: 'pending', nextAttemptAt: clock.now() + 60_000 }]);
    clock.advance(60_000);
    await dispatcher().runDue();
    const errors = ['aborted', 'aborted', 'aborted', 'status', 'status'];
    const attempts = errors.map((error, index) => ({ number: index + 1, error }));
    expect(await deliveries('a')).toMatchObject([{ status: 'dropped', attempts }]);
    expect(requests.map(({ headers }) => headers['X-SVC-Attempt'])).toEqual(['1', '2', '3', '4', '5']);
  });

  it('leaves the number of an attempt to a worker that died in the middle of it', async () => {
    const { started, dispatcher, endpoint, publish, deliveries, clock, requests } = await depot();
    let behaviour: Behaviour = hangs;
    await endpoint('a', (request) => behaviour(request));
    await publish('a');
    await started();
    behaviour = async () => answered(503);
    clock.advance(30_000);
    await dispatcher().runDue();
    expect(requests.map(({ headers }) => headers['X-SVC-Attempt'])).toEqual(['1', '2']);
    expect(await deliveries('a')).toMatchObject([
      { status: 'pending', nextAttemptAt: clock.now() + 60_000, attempts: [{ number: 2, error: 'status' }] },
    ]);
  });
});

describe('a database that fails', () => {
  it('keeps results until they can be written, and claims nothing beyond its room meanwhile', async () => {
    let broken = true;
    const { started, endpoint, publish, deliveries, fire, lines, requests, holdPauses } = await depot(
      (store) => ({
        ...store,
        finish: (results) => (broken ? gone() : store.finish(results)),
      }),
    );
    await endpoint('a');
    await publish('a', 10);
    const worker = await started(4);
    expect(requests.length).toBeLessThanOrEqual(4);
    expect(lines).toContain('warn: results of deliveries could not be written');
    // The worker goes on at once, not after the pause between two claims.
    holdPauses();
    broken = false;
    await fire(500);
    await worker.stop();
    const all = await deliveries('a');
    expect(all.map(({ status, attempts }) => [status, attempts.length])).toEqual(
      Array(10).fill(['delivered', 1]),
    );
    expect(requests).toHaveLength(10);
  });

  it('leaves what it could not write to the next worker, when it is stopped', async () => {
    const { started, endpoint, publish, deliveries, fire } = await depot((store) => ({
      ...store,
      finish: gone,
    }));
    await endpoint('a');
    await publish('a');
    const stopping = (await started()).stop();
    await quiet();
    await fire(500);
    await stopping;
    expect(await deliveries('a')).toMatchObject([{ status: 'pending', attempts: [] }]);
  });

  it('writes the others when one result is not taken, and gives that one up when its lease ends', async () => {
    const { started, endpoint, publish, deliveries, fire, clock, requests } = await depot((store) => ({
      ...store,
      finish: (results) => (results.some(({ id }) => id === 'dl_3_1') ? gone() : store.finish(results)),
    }));
    await endpoint('a');
    await publish('a', 8);
    const worker = await started();
    for (let tries = 0; tries < 10; tries += 1) await fire(500);
    const pending = (await deliveries('a')).filter(({ status }) => status === 'pending');
    expect(pending.map(({ id }) => id)).toEqual(['dl_3_1']);
    expect(requests).toHaveLength(8);
    clock.advance(30_000);
    await fire(500);
    worker.wake();
    await quiet();
    expect(requests).toHaveLength(9);
    expect(requests[8]?.headers['X-SVC-EventId']).toBe('evt_3');
    void worker.stop();
  });

  it('says so when nothing can be claimed, and tries again', async () => {
    let broken = true;
    const { started, endpoint, publish, fire, lines, requests } = await depot((store) => ({
      ...store,
      claim: (request) => (broken ? gone() : store.claim(request)),
    }));
    await endpoint('a');
    await publish('a');
    const worker = await started();
    expect(lines).toEqual(['warn: deliveries cannot be claimed; it is tried again']);
    broken = false;
    await fire();
    expect(requests).toHaveLength(1);
    await worker.stop();
  });
});

it('two workers make each attempt once, and a late result of a lost claim changes nothing', async () => {
  const written: boolean[][] = [];
  const { started, endpoint, publish, deliveries, clock, requests } = await depot((store) => ({
    ...store,
    async finish(results) {
      const outcome = await store.finish(results);
      written.push(outcome);
      return outcome;
    },
  }));
  const stuck = byHand();
  await endpoint('a', () => (requests.length === 1 ? stuck.behave() : Promise.resolve(answered(500))));
  await publish('a');
  const [first, second] = [await started(), await started()];
  expect(requests).toHaveLength(1);
  // The first worker hangs longer than its lease.
  clock.advance(30_000);
  second.wake();
  await quiet();
  expect(requests).toHaveLength(2);
  expect(written).toEqual([[true]]);
  stuck.answer();
  await quiet();
  expect(written).toEqual([[true], [false]]);
  const attempts = [{ number: 2, httpStatus: 500 }];
  expect(await deliveries('a')).toMatchObject([{ status: 'pending', attempts }]);
  await Promise.all([first.stop(), second.stop()]);
  expect(await deliveries('a')).toMatchObject([{ status: 'pending', attempts }]);
});
