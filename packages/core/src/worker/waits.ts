import type { Core } from '../options/context.ts';
import type { LongestWaits } from '../ports/storage.ts';
import { clockToleranceMs } from '../time/clock.ts';
import { jobRetryMs, leaseMs, type Worker } from './worker.ts';

/** Rows that one call brings forward at most. */
const batch = 500;

/** Pause before the next try when the storage failed, in milliseconds. */
const retryMs = 1_000;

/** Brings all work forward that waits for longer than it can. Returns how many jobs and deliveries there were. */
export async function boundWaits(
  { storage, clock, options }: Core,
  kinds: LongestWaits['jobs']['kinds'],
): Promise<{ readonly jobs: number; readonly deliveries: number }> {
  const delaysMs = [0, ...options.webhooks.retryDelaysSeconds.map((seconds) => seconds * 1000)];
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
 * Keeps work from standing still after the clock went back. Every process does it after a step of its own
 * clock, even without a worker, because work that it stored before the step waits for a time that has moved
 * away. A worker does it when it starts, because the clock may have gone back while no process ran.
 */
export function createWaitBounds(core: Core, kinds: LongestWaits['jobs']['kinds']) {
  const { wake } = core;
  const { logger } = core.options;
  let isClosed = false;
  let hasBegun = false;
  let timer: NodeJS.Timeout | undefined;
  /** The round under way, and whether another round must follow because the clock went back meanwhile. */
  let round: Promise<void> | null = null;
  let isWanted = false;

  async function run(): Promise<void> {
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        const moved = await boundWaits(core, kinds);
        if (moved.jobs === 0 && moved.deliveries === 0) continue;
        logger.warn(moved, 'work waited for a time that is too far ahead, and was brought forward');
        if (moved.jobs > 0) wake('jobs');
        if (moved.deliveries > 0) wake('deliveries');
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

  /** Resolves after the first round of this process. */
  async function begin(): Promise<void> {
    if (hasBegun) return;
    hasBegun = true;
    await bound();
  }

  return {
    /** The clock of this process went back by so many milliseconds. */
    clockWentBack(backMs: number): void {
      logger.warn({ backMs: Math.round(backMs) }, 'the clock went back, and is followed');
      // The caller has just read the clock: what it does with the time comes first.
      setImmediate(() => {
        if (!isClosed) void bound();
      });
    },
    /** Wraps a worker. */
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
    /** Resolves when no round is under way; none begins afterwards. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await round;
    },
  };
}
