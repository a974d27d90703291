import type { Core } from '../options/context.ts';
import type { Worker } from './worker.ts';

/**
 * Kind of the job by which a process without a worker finds out whether another process has one: that worker
 * takes the job.
 */
export const presenceKind = 'worker check';

/** Time after which waiting work shows that a worker is missing, in milliseconds. */
const waitedMs = 60_000;

/** Time between two checks: a little more, for workers that something starts every minute. */
const lookMs = 75_000;

/**
 * Logs once that work waits and no worker takes it: `worker.start()` was forgotten, or the process that had
 * called it is gone. A process whose own worker has worked does not check. Any number of others may.
 */
export function watchForWorker(core: Core, worker: Worker) {
  const { clock, random } = core;
  const { queue } = core.storage;
  const { logger } = core.options;
  const timer = setInterval(() => void look(), lookMs).unref();
  const stop = () => clearInterval(timer);

  async function look(): Promise<void> {
    try {
      // Job of the last check, of this process or another one.
      const [job] = await queue.claim({
        kinds: [presenceKind],
        claimId: random.bytes(16).toString('hex'),
        now: clock.now() - waitedMs,
        leaseMs: 1,
        limit: 1,
      });
      if (job !== undefined) await queue.complete(job);
      if (job?.attempt === 1) {
        stop();
        logger.warn(
          {},
          'work has waited for more than a minute, and no worker takes it: webhooks, transfers, the removal of old rows. ' +
            'Call ostiary.worker.start() in one process at least; where one does, look whether it keeps up',
        );
        return;
      }
      // There is one row for any number of processes.
      await queue.enqueue([{ id: presenceKind, kind: presenceKind, payload: {}, dueAt: clock.now() }]);
    } catch (error) {
      // Other code reports a database that cannot be reached.
      logger.debug({ err: error }, 'nobody knows whether a worker runs');
    }
  }

  return {
    worker: {
      ...worker,
      start() {
        stop();
        worker.start();
      },
      runDue() {
        stop();
        return worker.runDue();
      },
    },
    /** Ends the watching. */
    stop,
  };
}
