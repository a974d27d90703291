import type { OutageLog } from '../telemetry/outage-log.ts';
import type { Schedule } from '../time/clock.ts';
import { createPace } from './pace.ts';

/**
 * Pause after a claim that did not reach its limit, in milliseconds. Work that is enqueued meanwhile shares the next claim, and
 * the results of work that began together share statements. Without the pause, a busy process claims about once for each
 * payment, which takes a quarter of the time of a payment on PostgreSQL and two fifths on SQLite.
 */
export const pauseMs = 20;

/** Result of one poll for work. */
export interface Found {
  readonly claimed: number;
  /** True if the claim reached its limit, so that there may be more work. */
  readonly isCutOff: boolean;
}

/** Creates a poller for due work, which runs one poll at a time. */
export function createPolling({
  claim,
  outages,
  schedule,
}: {
  /** Claims as much work as the worker has free places, and starts it. */
  readonly claim: () => Promise<Found>;
  /** Log to which failed polls are written. */
  readonly outages: OutageLog;
  readonly schedule: Schedule;
}) {
  const pace = createPace();
  let isStarted = false;
  let cancelPoll: () => void = () => {};
  /** Result of the running poll, shared by all callers. */
  let flight: Promise<number> | null = null;
  /** When the next claim is made: after the pause, because work may have come, or at once, because places are free. */
  let next: 'none' | 'after the pause' | 'at once' = 'none';
  let endPause: () => void = () => {};

  /** Waits for the pause between two claims, or until `endPause` is called. */
  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = schedule(resolve, pauseMs);
      endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  async function claimAgain(): Promise<number> {
    let total = 0;
    try {
      while (next !== 'none') {
        next = 'none';
        const { claimed, isCutOff } = await claim();
        total += claimed;
        if (isStarted && isCutOff) next = 'at once';
        if (isStarted && next !== 'at once') await pause();
      }
      outages.succeeded();
      pace.found(total);
    } catch (error) {
      pace.found(0);
      outages.failed(error);
    } finally {
      flight = null;
    }
    return total;
  }

  /**
   * Polls at once, or after the pause that follows the last claim. If polling is started, repeats that while a claim
   * reaches its limit. Returns the number of claimed jobs or deliveries.
   */
  function now(): Promise<number> {
    if (next === 'none') next = 'after the pause';
    flight ??= claimAgain();
    return flight;
  }

  function poll(): void {
    void (flight ?? now()).then(() => {
      if (isStarted) cancelPoll = schedule(poll, pace.wait());
    });
  }

  return {
    now,
    /** Starts to poll for work at intervals, until `stop`. May be called again. */
    start(): void {
      if (isStarted) return;
      isStarted = true;
      poll();
    },
    /** Polls, if polling is started, because work may have come: at once, or after the pause. */
    wake(): void {
      if (isStarted) void now();
    },
    /** Polls at once, if polling is started, because places are free that the last claim did not have. */
    resume(): void {
      if (!isStarted) return;
      next = 'at once';
      endPause();
      void now();
    },
    isStarted: () => isStarted,
    /** Stops polling. Resolves when no poll is running. */
    async stop(): Promise<void> {
      isStarted = false;
      next = 'none';
      cancelPoll();
      endPause();
      await flight;
    },
  };
}
