import { memoryStorage } from '@ostiary/testing/memory';
import type { Core } from '../../src/options/context.ts';
import type { JobHandler } from '../../src/ports/queue.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import type { Queue, Storage } from '../../src/storage.ts';
import { createHourlyCounts } from '../../src/telemetry/hourly-counts.ts';
import type { Schedule } from '../../src/time/clock.ts';
import { pauseMs } from '../../src/worker/polling.ts';
import { createWorker } from '../../src/worker/worker.ts';
import { TestClock } from '../support/provider.ts';

/** Resolves once all work that needs no timer has ended. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Makes the dependencies of a worker: a storage, a clock that stands still, a log, and timers that a test
 * fires.
 */
export async function outfit() {
  const storage: Storage = memoryStorage();
  await storage.open();
  const clock = new TestClock();
  const lines: string[] = [];
  const log = (level: string) => (_fields: object, message: string) =>
    void lines.push(`${level}: ${message}`);
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const timers: { readonly ms: number; readonly fire: () => void }[] = [];
  const remove = (timer: (typeof timers)[number]) => {
    if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
  };
  let areHeld = false;
  const schedule: Schedule = (fire, ms) => {
    // The pause between two claims ends at once, unless a test holds it. Its own test is polling.test.ts.
    if (ms === pauseMs) {
      if (areHeld) return () => undefined;
      const immediate = setImmediate(fire);
      return () => clearImmediate(immediate);
    }
    const timer = { ms, fire };
    timers.push(timer);
    return () => remove(timer);
  };
  // Timers of their own, so that a test fires only those of the worker.
  const counts = createHourlyCounts({
    ...{ store: storage.hourlyCounts, clock, logger },
    schedule: () => () => undefined,
  });
  return {
    ...{ storage, lines, timers },
    /** Clock, log, timers and random generator that the worker in the test uses. */
    tools: { clock, logger, schedule, random: systemRandom, telemetry: null, counts },
    clock,
    /** Lets no pause between two claims end by itself from now on. */
    holdPauses: () => {
      areHeld = true;
    },
    /** Delays of the timers that are pending, in milliseconds. */
    waits: () => timers.map(({ ms }) => ms),
    /** Fires the first timer, or the first timer with the given delay. */
    async fire(ms?: number): Promise<void> {
      const timer = timers.find((each) => ms === undefined || each.ms === ms);
      if (timer !== undefined) remove(timer);
      timer?.fire();
      await quiet();
    },
  };
}

/** Makes a worker with a real queue and timers that the test fires. */
export async function workshop(
  handlers: Record<string, JobHandler>,
  wrap: (queue: Queue) => Queue = (queue) => queue,
  more: { readonly atOnce?: { readonly [kind: string]: number }; readonly abort?: () => void } = {},
) {
  const given = await outfit();
  const { clock, tools } = given;
  const { queue } = given.storage;
  return {
    ...given,
    worker: () => {
      const { schedule, logger, ...parts } = tools;
      const core = { ...parts, storage: { queue: wrap(queue) }, options: { logger } };
      return createWorker(core as unknown as Core, handlers, { schedule, ...more });
    },
    enqueue: (count: number, kind = 'work') =>
      queue.enqueue(
        Array.from({ length: count }, (_, index) => ({
          ...{ id: `${kind}-${index}`, kind },
          ...{ payload: { index }, dueAt: clock.now() },
        })),
      ),
    /** Returns due jobs that no worker of the test has claimed. */
    due: (kind = 'work') =>
      queue.claim({ kinds: [kind], claimId: 'look', now: clock.now(), leaseMs: 1, limit: 100 }),
  };
}
