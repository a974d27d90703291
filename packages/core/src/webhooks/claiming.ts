import type { Logger } from '../logger.ts';
import { createPace } from '../worker/pace.ts';
import type { Schedule } from '../worker/worker.ts';

export interface ClaimCount {
  readonly claimed: number;
  /** Whether it had as many as it may have at once, so that there may be more. */
  readonly isCutOff: boolean;
}

/**
 * The first part of the dispatcher: looks for deliveries that are due, one claim at a time.
 * @param claimOnce - claims for the room that there is, and begins what it has claimed
 */
export function createClaiming({
  claimOnce,
  logger,
  schedule,
}: {
  readonly claimOnce: () => Promise<ClaimCount>;
  readonly logger: Logger;
  readonly schedule: Schedule;
}) {
  const pace = createPace();
  let isStarted = false;
  let cancelPoll: () => void = () => {};
  /** The claims under way: a single flight, which every caller shares. */
  let flight: Promise<number> | null = null;
  /** Whether something may be due, or may have room, that the claim under way does not see. */
  let isWoken = false;

  async function claimAll(): Promise<number> {
    let total = 0;
    try {
      while (isWoken) {
        isWoken = false;
        const { claimed, isCutOff } = await claimOnce();
        total += claimed;
        isWoken ||= isStarted && isCutOff;
      }
      pace.found(total);
    } catch (error) {
      pace.found(0);
      logger.warn({ err: error }, 'deliveries cannot be claimed; it is tried again');
    } finally {
      flight = null;
    }
    return total;
  }

  /** Claims until nothing is left that there is room for. Answers how many deliveries it claimed. */
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
    /** Claims now, and again after a while, until it is stopped. */
    start(): void {
      isStarted = true;
      poll();
    },
    /** Resolves when no claim is under way. */
    async stop(): Promise<void> {
      isStarted = false;
      isWoken = false;
      cancelPoll();
      await flight;
    },
  };
}
