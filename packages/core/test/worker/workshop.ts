import { setImmediate } from 'node:timers/promises';
import { memoryStorage } from '@ostiary/testing/memory';
import { systemRandom } from '../../src/random.ts';
import type { Queue, Storage } from '../../src/storage.ts';
import type { JobHandler } from '../../src/worker/worker.ts';
import { createWorker } from '../../src/worker/worker.ts';
import { TestClock } from '../support/provider.ts';

interface Timer {
  readonly ms: number;
  readonly fire: () => void;
}

/** A worker over a real queue, whose waits are fired by hand. */
export async function workshop(
  handlers: Record<string, JobHandler>,
  wrap: (queue: Queue) => Queue = (queue) => queue,
) {
  const storage: Storage = memoryStorage();
  await storage.open();
  const clock = new TestClock();
  const lines: string[] = [];
  const timers: Timer[] = [];
  const log = (level: string) => (_fields: object, message: string) =>
    void lines.push(`${level}: ${message}`);
  const queue = wrap(storage.queue);
  const worker = () =>
    createWorker({
      queue,
      clock,
      random: systemRandom,
      logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      handlers,
      telemetry: null,
      schedule(callback, ms) {
        const timer = { ms, fire: callback };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), 1);
      },
    });
  const enqueue = (count: number, kind = 'work') =>
    storage.queue.enqueue(
      Array.from({ length: count }, (_, index) => ({
        id: `${kind}-${index}`,
        kind,
        payload: { index },
        dueAt: clock.now(),
      })),
    );
  /** Jobs that are due, claimed by nobody who works here. */
  const due = (kind = 'work') =>
    storage.queue.claim({
      kinds: [kind],
      claimId: `look-${Math.random()}`,
      now: clock.now(),
      leaseMs: 1,
      limit: 100,
    });
  return { clock, lines, timers, worker, enqueue, due, queue: storage.queue };
}

/** Resolves once everything that is under way without timers has ended: a few calls of the storage, one after the other. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}
