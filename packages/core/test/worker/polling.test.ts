import { expect, it, vi } from 'vitest';
import { createOutageLog } from '../../src/telemetry/outage-log.ts';
import { createPolling, type Found, pauseMs } from '../../src/worker/polling.ts';
import { TestClock } from '../support/provider.ts';
import { quiet } from './workshop.ts';

const none: Found = { claimed: 0, isCutOff: false };
const some: Found = { claimed: 3, isCutOff: false };
const full: Found = { claimed: 32, isCutOff: true };

/** Makes a poller with timers that the test fires. Its claims have the given results; later ones find nothing. */
function poller(...results: Found[]) {
  const timers = new Map<() => void, number>();
  const claim = vi.fn(async () => results.shift() ?? none);
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const outages = createOutageLog({ logger, clock: new TestClock(), failing: 'no', working: 'yes' });
  const polling = createPolling({
    ...{ claim, outages },
    schedule(fire, ms) {
      timers.set(fire, ms);
      return () => timers.delete(fire);
    },
  });
  return {
    ...{ polling, claim, waits: () => [...timers.values()] },
    /** Fires all timers with this delay. */
    async fire(ms: number): Promise<void> {
      for (const [fire, delay] of timers) if (delay === ms && timers.delete(fire)) fire();
      await quiet();
    },
  };
}

async function started(...results: Found[]) {
  const made = poller(...results);
  made.polling.start();
  await quiet();
  return made;
}

it('claims once and without a pause for a call, while it is not started', async () => {
  const { polling, claim, waits } = poller(full, some);
  expect(await polling.now()).toBe(32);
  expect(await polling.now()).toBe(3);
  expect([claim.mock.calls.length, waits()]).toEqual([2, []]);
});

it('claims work that comes during the pause after a claim together, when the pause is over', async () => {
  const { polling, claim, waits, fire } = await started(some);
  expect([claim.mock.calls.length, waits()]).toEqual([1, [pauseMs]]);
  for (let wakeUp = 0; wakeUp < 5; wakeUp += 1) polling.wake();
  await quiet();
  expect(claim).toHaveBeenCalledTimes(1);
  await fire(pauseMs);
  expect([claim.mock.calls.length, waits()]).toEqual([2, [pauseMs]]);
  // Nothing came meanwhile, so only the next interval follows.
  await fire(pauseMs);
  expect([claim.mock.calls.length, waits()]).toEqual([2, [50]]);
});

it('claims at once for a worker that has been idle', async () => {
  const { polling, claim, fire } = await started();
  await fire(pauseMs);
  polling.wake();
  await quiet();
  expect(claim).toHaveBeenCalledTimes(2);
});

it('makes no pause after a claim that reached its limit', async () => {
  const { claim, waits } = await started(full, full, some);
  expect([claim.mock.calls.length, waits()]).toEqual([3, [pauseMs]]);
});

it('ends the pause when places become free', async () => {
  const { polling, claim, waits } = await started(some, some);
  polling.resume();
  await quiet();
  expect([claim.mock.calls.length, waits()]).toEqual([2, [pauseMs]]);
});

it('makes no pause after a claim during which places became free', async () => {
  const { polling, claim, waits, fire } = await started();
  await fire(pauseMs);
  const found = Promise.withResolvers<Found>();
  claim.mockReturnValueOnce(found.promise);
  polling.wake();
  polling.resume();
  found.resolve(some);
  await quiet();
  expect([claim.mock.calls.length, waits().includes(pauseMs)]).toEqual([3, true]);
});

it('ends the pause when it is stopped, without another claim or timer', async () => {
  const { polling, claim, waits } = await started(some);
  polling.wake();
  await polling.stop();
  expect([claim.mock.calls.length, waits()]).toEqual([1, []]);
  polling.wake();
  polling.resume();
  await quiet();
  expect(claim).toHaveBeenCalledTimes(1);
});
