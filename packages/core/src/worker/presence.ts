import type { Core } from '../options/context.ts';
import type { Worker } from './worker.ts';

/**
 * Kind of a job that does nothing: if such a job stays in the queue, no process runs a worker.
 */
export const presenceKind = 'worker check';

/** Time after which waiting work shows that no worker runs, in milliseconds. */
const waitedMs = 60_000;

/**
 * Time between two checks whether a worker runs, in milliseconds. Longer than a minute, for workers that are
 * started every minute.
 */
const checkMs = 75_000;

/**
 * Logs once if work waits and no worker takes it: `worker.start()` was not called, or the process that called
 * it has ended. A process whose own worker has run does not check. Any number of processes may check.
 */
export function watchForWorker(core: Core, worker: Worker) {
  const { clock, random } = core;
  const { queue } = core.storage;
  const { logger } = core.options;
  const timer = setInterval(() => void check(), checkMs).unref();
  const stop = () => clearInterval(timer);

  async function check(): Promise<void> {
    try {
      // Claim the job of the last check, made by this process or another one.
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
            'Call ostiary.worker.start() in one process at least; if one does, check whether it keeps up',
        );
        return;
      }
      // The fixed id keeps it at one row for any number of processes.
      await queue.enqueue([{ id: presenceKind, kind: presenceKind, payload: {}, dueAt: clock.now() }]);
    } catch (error) {
      // Other code reports a database that cannot be reached.
      logger.debug({ err: error }, 'it is unknown whether a worker runs');
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
    /** Stops the checks whether a worker runs. */
    stop,
  };
}
