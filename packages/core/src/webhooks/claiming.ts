import type { Logger } from '../logger.ts';
import { createPace } from '../worker/pace.ts';
import type { Schedule } from '../worker/worker.ts';

/** What one claim led to. */
export interface ClaimCount {
  readonly claimed: number;
  /** Whether it had as many as it may have at once, so that there may be more. */
  readonly isCutOff: boolean;
  /** How long the database took; `null` when there was no room to ask for anything. */
  readonly tookMs: number | null;
}

/** The first part of the dispatcher: looks for deliveries that are due, one claim at a time. */
export interface Claiming {
  /** Claims until nothing is left that there is room for. Answers how many deliveries it claimed. */
  claim(): Promise<number>;
  /** Claims for the room that is there; after a claim under way only for what that one leaves. */
  refill(): void;
  /** Claims now, and again after a while, until it is stopped. */
  start(): void;
  /** Resolves when no claim is under way. */
  stop(): Promise<void>;
}

/**
 * @param claimOnce - claims for the room that there is, and begins what it has claimed
 * @param hasRoom - whether a claim could bring something for an endpoint that is known
 */
export function createClaiming({
  claimOnce,
  hasRoom,
  logger,
  schedule,
}: {
  readonly claimOnce: () => Promise<ClaimCount>;
  readonly hasRoom: () => boolean;
  readonly logger: Logger;
  readonly schedule: Schedule;
}): Claiming {
  const pace = createPace();
  let isStarted = false;
  let cancelPoll: () => void = () => {};
  /** The claims under way: a single flight, which every caller shares. */
  let flight: Promise<number> | null = null;
  /** Whether something may be due that the claim under way does not see. */
  let isWoken = false;
  /** Whether there was room for more while a claim was under way. */
  let hadRoom = false;

  async function claimAll(): Promise<number> {
    let total = 0;
    try {
      while (isWoken || (hadRoom && isStarted && hasRoom())) {
        isWoken = false;
        hadRoom = false;
        const { claimed, isCutOff, tookMs } = await claimOnce();
        if (tookMs !== null) pace.took(tookMs);
        total += claimed;
        if (isStarted && isCutOff) isWoken = true;
      }
      pace.found(total);
    } catch (error) {
      logger.warn({ err: error }, 'deliveries cannot be claimed; it is tried again');
    } finally {
      flight = null;
    }
    return total;
  }

  function claim(): Promise<number> {
    isWoken = true;
    flight ??= claimAll();
    return flight;
  }

  function poll(): void {
    void (flight ?? claim()).then(() => {
      if (isStarted) cancelPoll = schedule(poll, pace.wait());
    });
  }

  return {
    claim,
    refill() {
      if (flight === null) void claim();
      else hadRoom = true;
    },
    start() {
      isStarted = true;
      poll();
    },
    async stop() {
      isStarted = false;
      cancelPoll();
      await flight;
    },
  };
}
