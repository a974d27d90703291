import { nodeTimer, type Worker, type WorkerOptions } from './worker.ts';

/** The kind of the job that tells a process without a worker of its own whether another one has one: who takes it is there. */
export const presenceKind = 'worker check';

/** What waits for longer waits for a worker, in milliseconds. */
const waitedMs = 60_000;

/** Between two looks: a little more, for workers that something starts every minute. */
const lookMs = 75_000;

/** A worker that is watched for, and how the watching ends. */
export interface WatchedWorker {
  readonly worker: Worker;
  stop(): void;
}

/**
 * Tells the log, once, that work waits and no worker takes it: `worker.start()` was forgotten, or the process that had
 * called it is gone. A process whose own worker has worked does not look; any number of others may.
 */
export function watchForWorker(
  worker: Worker,
  options: Pick<WorkerOptions, 'queue' | 'clock' | 'random' | 'logger' | 'schedule'>,
): WatchedWorker {
  const { queue, clock, random, logger, schedule = nodeTimer } = options;
  let isOver = false;
  let cancel = schedule(look, lookMs);

  function stop(): void {
    isOver = true;
    cancel();
  }

  /** Whether the job of the last look, of this process or another one, is still there, and nobody has ever taken it. */
  async function isLeftAlone(): Promise<boolean> {
    const [job] = await queue.claim({
      kinds: [presenceKind],
      claimId: random.bytes(16).toString('hex'),
      now: clock.now() - waitedMs,
      leaseMs: 1,
      limit: 1,
    });
    if (job === undefined) return false;
    await queue.complete(job);
    return job.attempt === 1;
  }

  async function lookOnce(): Promise<void> {
    if (await isLeftAlone()) {
      if (isOver) return;
      stop();
      logger.warn(
        {},
        'work has waited for more than a minute, and no worker takes it: webhooks, transfers, the removal of old rows. ' +
          'Call ostiary.worker.start() in one process at least; where one does, look whether it keeps up',
      );
      return;
    }
    // One row, however many processes look.
    await queue.enqueue([{ id: presenceKind, kind: presenceKind, payload: {}, dueAt: clock.now() }]);
  }

  function look(): void {
    lookOnce()
      // A database that cannot be reached is told of elsewhere.
      .catch((error: unknown) => logger.debug({ err: error }, 'nobody knows whether a worker runs'))
      .finally(() => {
        if (!isOver) cancel = schedule(look, lookMs);
      });
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
    stop,
  };
}
