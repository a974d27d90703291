import type { Clock } from '../ports/clock.ts';
import type { HourlyCount, HourlyCountStore } from '../ports/hourly-counts.ts';
import type { Mode } from '../ports/partners.ts';
import type { Logger } from './logger.ts';
import { createOutageLog } from './outage-log.ts';

/** Names under which events are counted. */
export type CountName =
  /** Authorization codes that were exchanged for tokens. Always in live mode. */
  | 'sign_ins'
  /** Webhook attempts to which the endpoint responded with a 2xx status. */
  | 'deliveries_accepted'
  /** Other webhook attempts, without those that a stopping worker cut off. */
  | 'deliveries_failed'
  /** Requests to the partner API, whatever the response. */
  | 'requests'
  /** Requests to the partner API with a 4xx response. */
  | 'requests_refused'
  /** Requests to the partner API with a 5xx response. */
  | 'requests_failed';

/** Names under which the largest value of an hour is kept. */
export type PeakName =
  /** Time for which a job or delivery was due before a worker claimed it, in milliseconds. */
  'wait_ms';

/** Time for which counts are collected before they are stored, in milliseconds. A killed process loses them. */
const collectMs = 5_000;

/**
 * Counts what the service does, for the charts of operators. Counting only changes numbers in memory. They are
 * stored every few seconds and at the end, behind the responses: no request waits for it or fails with it.
 */
export interface HourlyCounts {
  /** Adds one. */
  add(name: CountName, mode: Mode): void;
  /** Keeps a value if it is the largest of its hour. */
  measure(name: PeakName, mode: Mode, value: number): void;
  /** Stores all counts now. Resolves when they are stored, or cannot be. */
  flush(): Promise<void>;
  /** Stores all counts for the last time. Later ones are lost. */
  close(): Promise<void>;
}

const numbers = () => ({ live: new Map<string, number>(), test: new Map<string, number>() });

/**
 * Creates the counters of one process.
 * @param schedule - starts a timer that does not keep the process running, and returns a function that cancels it
 */
export function createHourlyCounts({
  store,
  clock,
  logger,
  schedule,
}: {
  readonly store: HourlyCountStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly schedule: (callback: () => void, ms: number) => () => void;
}): HourlyCounts {
  let sums = numbers();
  let peaks = numbers();
  let cancelTimer: (() => void) | null = null;
  let isClosed = false;
  /** Resolves when the last write has ended. Writes follow each other. */
  let flight: Promise<void> = Promise.resolve();
  const outages = createOutageLog({
    ...{ logger, clock },
    failing: 'hourly counts could not be stored; they are kept and tried again',
    working: 'hourly counts can be stored again',
  });

  function startTimer(): void {
    if (isClosed) return;
    cancelTimer ??= schedule(() => void flush(), collectMs);
  }

  const listed = (counted: ReturnType<typeof numbers>): HourlyCount[] =>
    (['live', 'test'] as const).flatMap((mode) =>
      Array.from(counted[mode], ([name, count]) => ({ name, mode, count })),
    );

  function addTo(name: string, mode: Mode, count: number): void {
    const counted = sums[mode];
    counted.set(name, (counted.get(name) ?? 0) + count);
    startTimer();
  }

  function keepLargest(name: string, mode: Mode, value: number): void {
    const largest = peaks[mode];
    largest.set(name, Math.max(value, largest.get(name) ?? 0));
    startTimer();
  }

  async function storeNow(): Promise<void> {
    const [summed, largest] = [listed(sums), listed(peaks)];
    if (summed.length + largest.length === 0) return;
    sums = numbers();
    peaks = numbers();
    try {
      await store.add([...summed, ...largest], clock.now());
      outages.succeeded();
    } catch (error) {
      for (const { name, mode, count } of summed) addTo(name, mode, count);
      for (const { name, mode, count } of largest) keepLargest(name, mode, count);
      outages.failed(error);
    }
  }

  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    flight = flight.then(storeNow);
    return flight;
  }

  return {
    add: (name, mode) => addTo(name, mode, 1),
    measure: keepLargest,
    flush,
    close() {
      isClosed = true;
      return flush();
    },
  };
}
