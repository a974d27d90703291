import type { Clock } from '../ports/clock.ts';
import type { DeliveryResult, DeliveryStore } from '../ports/deliveries.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createOutageLog } from '../telemetry/outage-log.ts';
import type { Schedule } from '../time/clock.ts';

/** Result of a finished webhook attempt, or of a delivery that is handed back, that is not stored yet. */
export interface Ended {
  readonly result: DeliveryResult;
  /** Time until which no other worker can claim the delivery. */
  readonly leaseEndsAt: number;
}

/**
 * Maximum number of results, and of characters of their responses, that one write stores, so that it takes
 * only milliseconds.
 */
const maxGroup = { results: 2_048, characters: 2 ** 21 };

/**
 * Pause before a failed write of results is tried again, in milliseconds. Writes are repeated until the lease
 * of the delivery expires or the worker stops.
 */
const retryMs = 500;

/** Number of event loop turns without a new result after which results are written. */
const quietTurns = 16;

interface WritingOptions {
  readonly deliveries: Pick<DeliveryStore, 'finish'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly schedule: Schedule;
  readonly concurrency: number;
  readonly isRunning: () => boolean;
  /**
   * Called in the event loop turn in which a write of results begins. A storage that groups commits can then
   * include the caller's own request.
   */
  readonly writing: () => void;
  /** Called when all results that arrived are stored or given up. */
  readonly written: () => void;
}

/**
 * Removes the oldest unwritten results from the queue and returns them, as many as one database write should
 * store.
 */
function takeGroup(results: Ended[]): Ended[] {
  let characters = 0;
  const end = results.findIndex(({ result }, index) => {
    characters += result.attempt?.response?.length ?? 0;
    return index === maxGroup.results || (index > 0 && characters > maxGroup.characters);
  });
  return results.splice(0, end === -1 ? results.length : end);
}

/**
 * Creates the third part of the webhook dispatcher, which stores results in the background. Results that
 * arrive together are stored with one call.
 */
export function createWriting(options: WritingOptions) {
  const { deliveries, clock, logger, schedule, concurrency, isRunning, writing, written } = options;
  const gatherSize = Math.min(maxGroup.results, Math.ceil(concurrency / 2));
  const outages = createOutageLog({
    ...{ logger, clock },
    failing: 'results of deliveries could not be written',
    working: 'results of deliveries can be written again',
  });
  const results: Ended[] = [];
  let flushing: Promise<void> | null = null;
  let open = 0;
  let whenSettled: (() => void)[] = [];

  /**
   * Subtracts results that were stored or given up from the open ones. If none is left, ends the wait of all
   * callers that wait for that.
   */
  function through(count: number): void {
    open -= count;
    if (open > 0) return;
    for (const resolve of whenSettled) resolve();
    whenSettled = [];
  }

  /**
   * Waits some event loop turns while attempts keep ending, because a commit costs nearly the same for one
   * result and for many.
   */
  async function gather(): Promise<void> {
    let quiet = 0;
    for (let size = results.length; size < gatherSize && size < open && quiet < quietTurns; ) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      quiet = results.length > size ? 0 : quiet + 1;
      size = results.length;
    }
  }

  /**
   * Stores each result separately after storing them together failed: one result that the storage refuses
   * must not delay the others. Failed writes are repeated until the lease of the delivery expires or the worker
   * stops; then another claim repeats the attempt.
   */
  async function writeEach(group: readonly Ended[]): Promise<void> {
    const outcomes = await Promise.allSettled(group.map(({ result }) => deliveries.finish([result])));
    const isLost = ({ leaseEndsAt }: Ended) => !isRunning() || leaseEndsAt <= clock.now();
    const kept = group.filter((ended, index) => outcomes[index]?.status === 'rejected' && !isLost(ended));
    through(group.length - kept.length);
    results.push(...kept);
    if (kept.length > 0) await new Promise<void>((resolve) => schedule(resolve, retryMs));
  }

  /** Stores all results of attempts, including those that arrive in the meantime. */
  async function flush(): Promise<void> {
    while (results.length > 0) {
      await gather();
      const group = takeGroup(results);
      const finished = deliveries.finish(group.map(({ result }) => result));
      writing();
      try {
        await finished;
        outages.succeeded();
        through(group.length);
      } catch (error) {
        outages.failed(error, { results: group.length });
        await writeEach(group);
      }
    }
    // In the same turn as the last check of `results`, so that attempts that end from now on start a new
    // flush.
    flushing = null;
    written();
  }

  return {
    /** Number of claimed deliveries whose results are not stored yet. */
    get open(): number {
      return open;
    },
    /** Registers a claimed delivery whose result will follow. */
    expect(): void {
      open += 1;
    },
    add(ended: Ended): void {
      results.push(ended);
      flushing ??= flush();
    },
    /** Resolves when the results of all claimed deliveries are stored or given up. */
    async settled(): Promise<void> {
      if (open > 0) await new Promise<void>((resolve) => whenSettled.push(resolve));
    },
    /** Resolves when no database write of results is running. */
    idle: async (): Promise<void> => void (await flushing),
  };
}
