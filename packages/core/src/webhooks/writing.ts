import type { Clock } from '../ports/clock.ts';
import type { DeliveryResult, DeliveryStore } from '../ports/deliveries.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createOutageLog } from '../telemetry/outage-log.ts';
import type { Schedule } from '../worker/looking.ts';

/** An attempt that is over, and whose result is not written yet. */
export interface Ended {
  readonly result: DeliveryResult;
  /** Time until which no other worker takes the delivery. */
  readonly leaseEndsAt: number;
}

/** Results of one write at most, and characters of their answers, so that it stays a matter of milliseconds. */
const maxGroup = { results: 2_048, characters: 2 ** 21 };

/** A failed write of results is tried again after this time, for as long as the worker runs. */
const retryMs = 500;

/** Results are gathered until so many turns of the event loop in a row have brought none. */
const quietTurns = 16;

interface WritingOptions {
  readonly deliveries: Pick<DeliveryStore, 'finish'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly schedule: Schedule;
  readonly concurrency: number;
  readonly isRunning: () => boolean;
  /** Called in the turn of the event loop in which a write begins: a storage that commits in groups takes along what it asks for. */
  readonly writing: () => void;
  /** Called when everything is written. */
  readonly written: () => void;
}

/** Takes those that ended first, as many as one write should carry. */
function takeGroup(results: Ended[]): Ended[] {
  let characters = 0;
  const end = results.findIndex(({ result }, index) => {
    characters += result.attempt?.response?.length ?? 0;
    return index === maxGroup.results || (index > 0 && characters > maxGroup.characters);
  });
  return results.splice(0, end === -1 ? results.length : end);
}

/** The third part of the dispatcher: writes results behind the attempts, those that end together with one call. */
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

  /** Results that are written, or given up. */
  function through(count: number): void {
    open -= count;
    if (open > 0) return;
    for (const resolve of whenSettled) resolve();
    whenSettled = [];
  }

  /**
   * Lets turns of the event loop pass as long as attempts keep ending: a commit costs nearly the same for one result and
   * for many.
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
   * Writes each result for itself, after writing them together has failed: one that the storage does not take must
   * not keep the others. What fails again is tried again until its lease ends; another claim makes that attempt anew.
   */
  async function writeEach(group: readonly Ended[]): Promise<void> {
    const outcomes = await Promise.allSettled(group.map(({ result }) => deliveries.finish([result])));
    const isLost = ({ leaseEndsAt }: Ended) => !isRunning() || leaseEndsAt <= clock.now();
    const kept = group.filter((ended, index) => outcomes[index]?.status === 'rejected' && !isLost(ended));
    through(group.length - kept.length);
    results.push(...kept);
    if (kept.length > 0) await new Promise<void>((resolve) => schedule(resolve, retryMs));
  }

  /** Writes what has ended, and what ends meanwhile, until nothing is left. */
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
    // In the same turn as the last check of `results`, so that attempts that end from now on begin a new
    // flush.
    flushing = null;
    written();
  }

  return {
    /** Deliveries that were claimed and whose results are not written. */
    get open(): number {
      return open;
    },
    /** A delivery was claimed: its result will come. */
    expect(): void {
      open += 1;
    },
    add(ended: Ended): void {
      results.push(ended);
      flushing ??= flush();
    },
    /** Resolves when nothing is open. */
    async settled(): Promise<void> {
      if (open > 0) await new Promise<void>((resolve) => whenSettled.push(resolve));
    },
    /** Resolves when no write is under way. */
    idle: async (): Promise<void> => void (await flushing),
  };
}
