import type { Core } from '../options/context.ts';
import type { LongestWaits } from '../ports/storage.ts';
import { clockToleranceMs, wholeMs } from '../time/clock.ts';
import { jobRetryMs, leaseMs, type Worker } from './worker.ts';

/** Maximum number of jobs or deliveries that one call brings forward. */
const batch = 500;

/** Pause before the next attempt after the storage failed, in milliseconds. */
const retryMs = 1_000;

/**
 * Brings forward all jobs and deliveries that wait longer than they should. Returns the numbers of jobs and
 * deliveries.
 */
export async function boundWaits(
  { storage, clock, options }: Core,
  kinds: LongestWaits['jobs']['kinds'],
): Promise<{ readonly jobs: number; readonly deliveries: number }> {
  const delaysMs = [0, ...options.webhooks.retryDelaysSeconds.map(wholeMs)];
  const waits = { leaseMs, jobs: { kinds, retryMs: jobRetryMs }, deliveries: { delaysMs } };
  let [jobs, deliveries] = [0, 0];
  for (;;) {
    const moved = await storage.boundWaits({
      ...waits,
      now: clock.now(),
      toleranceMs: clockToleranceMs,
      limit: batch,
    });
    jobs += moved.jobs;
    deliveries += moved.deliveries;
    if (moved.jobs < batch && moved.deliveries < batch) return { jobs, deliveries };
  }
}

/**
 * Creates the correction of waits that became too long because the clock was set back. Every process corrects
 * waits after a step back of its own clock, even without a worker, because work that it stored before waits
 * for a time that has moved away. A worker also does so at start, because the clock may have gone back while
 * no process ran.
 */
export function createWaitBounds(core: Core, kinds: LongestWaits['jobs']['kinds']) {
  const { notifyWorkers } = core;
  const { logger } = core.options;
  let isClosed = false;
  let hasBegun = false;
  let timer: NodeJS.Timeout | undefined;
  /**
   * The running correction of waits, and whether another must follow because the clock went back in the
   * meantime.
   */
  let round: Promise<void> | null = null;
  let isWanted = false;

  async function run(): Promise<void> {
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        const moved = await boundWaits(core, kinds);
        if (moved.jobs === 0 && moved.deliveries === 0) continue;
        logger.warn(moved, 'work waited for a time that is too far ahead, and was brought forward');
        if (moved.jobs > 0) notifyWorkers('jobs');
        if (moved.deliveries > 0) notifyWorkers('deliveries');
      }
    } catch (error) {
      isWanted = true;
      if (isClosed) return;
      logger.warn(
        { err: error },
        'work that waits for too long could not be brought forward; it is tried again',
      );
      clearTimeout(timer);
      timer = setTimeout(() => void bound(), retryMs).unref();
    } finally {
      round = null;
    }
  }

  function bound(): Promise<void> {
    isWanted = true;
    round ??= run();
    return round;
  }

  /** Runs the first correction of waits in this process. Resolves when it is done. */
  async function begin(): Promise<void> {
    if (hasBegun) return;
    hasBegun = true;
    await bound();
  }

  return {
    /** Starts a correction of waits because the clock of this process went back by `backMs` milliseconds. */
    clockWentBack(backMs: number): void {
      logger.warn({ backMs: Math.round(backMs) }, 'the clock went back, and is followed');
      // Start later: the caller has just read the clock, and should first use the time.
      setImmediate(() => {
        if (!isClosed) void bound();
      });
    },
    /** Wraps a worker so that waits are corrected when the worker starts, or before its first `runDue`. */
    around: (worker: Worker): Worker => ({
      ...worker,
      start() {
        void begin();
        worker.start();
      },
      async runDue() {
        await begin();
        return worker.runDue();
      },
    }),
    /** Prevents further corrections of waits. Resolves when none is running. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await round;
    },
  };
}
