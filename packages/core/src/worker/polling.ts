import type { OutageLog } from '../telemetry/outage-log.ts';
import type { Schedule } from '../time/clock.ts';
import { createPace } from './pace.ts';

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
  /**
   * True if work may have become due, or a place free, after the running poll has read the database.
   */
  let isWoken = false;

  async function claimAgain(): Promise<number> {
    let total = 0;
    try {
      while (isWoken) {
        isWoken = false;
        const { claimed, isCutOff } = await claim();
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

  /**
   * Polls at once. If polling is started, repeats that while a poll reaches its limit. Returns the number of
   * claimed jobs or deliveries.
   */
  function now(): Promise<number> {
    isWoken = true;
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
    /** Polls at once, if polling is started. */
    wake(): void {
      if (isStarted) void now();
    },
    isStarted: () => isStarted,
    /** Stops polling. Resolves when no poll is running. */
    async stop(): Promise<void> {
      isStarted = false;
      isWoken = false;
      cancelPoll();
      await flight;
    },
  };
}
