import type { OutageLog } from '../telemetry/outage-log.ts';
import { createPace } from './pace.ts';

/** Calls back after a time in milliseconds; answers how to call it off. */
export type Schedule = (callback: () => void, ms: number) => () => void;

/** Node's timer. */
export function nodeTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  // Waiting for work keeps no process alive.
  timer.unref();
  return () => clearTimeout(timer);
}

/** Result of one poll for work. */
export interface Found {
  readonly claimed: number;
  /** True if it claimed as much as it may, so that there may be more. */
  readonly isCutOff: boolean;
}

/** Polls for due work, one poll at a time. */
export function createLooking({
  look,
  outages,
  schedule,
}: {
  /** Claims for the room that there is, and begins what it has claimed. */
  readonly look: () => Promise<Found>;
  /** Logs polls that fail. */
  readonly outages: OutageLog;
  readonly schedule: Schedule;
}) {
  const pace = createPace();
  let isStarted = false;
  let cancelPoll: () => void = () => {};
  /** The polls under way: a single flight, which every caller shares. */
  let flight: Promise<number> | null = null;
  /**
   * True if something may have become due, or a place may have become free, that the poll under way does not
   * see.
   */
  let isWoken = false;

  async function lookAgain(): Promise<number> {
    let total = 0;
    try {
      while (isWoken) {
        isWoken = false;
        const { claimed, isCutOff } = await look();
        total += claimed;
        isWoken ||= isStarted && isCutOff;
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

  /** Polls until no work is left for which there is a place. Returns the number of claims. */
  function now(): Promise<number> {
    isWoken = true;
    flight ??= lookAgain();
    return flight;
  }

  function poll(): void {
    void (flight ?? now()).then(() => {
      if (isStarted) cancelPoll = schedule(poll, pace.wait());
    });
  }

  return {
    now,
    /** Polls now, and again after a while, until it is stopped. May be called again. */
    start(): void {
      if (isStarted) return;
      isStarted = true;
      poll();
    },
    /** Polls now, if it is started. */
    wake(): void {
      if (isStarted) void now();
    },
    isStarted: () => isStarted,
    /** Resolves when no poll is under way. */
    async stop(): Promise<void> {
      isStarted = false;
      isWoken = false;
      cancelPoll();
      await flight;
    },
  };
}
