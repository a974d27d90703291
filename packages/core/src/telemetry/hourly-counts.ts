import type { Clock } from '../ports/clock.ts';
import type { HourlyCount, HourlyCountStore } from '../ports/hourly-counts.ts';
import type { Mode } from '../ports/partners.ts';
import type { Logger } from './logger.ts';
import { createOutageLog } from './outage-log.ts';

/** Names of the counts of events per hour. */
export type CountName =
  /** Number of authorization codes that were exchanged for tokens. Always in live mode. */
  | 'sign_ins'
  /** Number of webhook attempts to which the endpoint responded with a 2xx status. */
  | 'deliveries_accepted'
  /** Number of other webhook attempts, without those that a stopping worker cut off. */
  | 'deliveries_failed'
  /** Number of requests to the partner API, with any response. */
  | 'requests'
  /** Number of requests to the partner API with a 4xx response. */
  | 'requests_refused'
  /** Number of requests to the partner API with a 5xx response. */
  | 'requests_failed';

/** Names of the measured values of which the largest of each hour is stored. */
export type PeakName =
  /** Time for which a job or delivery was due before a worker claimed it, in milliseconds. */
  'wait_ms';

/** Time for which counts are collected before they are stored, in milliseconds. A killed process loses them. */
const collectMs = 5_000;

/**
 * Counts what the service does, for the charts of operators. Counting only changes numbers in memory. They
 * are stored every few seconds and when the service closes, after responses were sent: no request waits for
 * it or fails with it.
 */
export interface HourlyCounts {
  /** Adds one to a count. It belongs to the hour in which it is stored, some seconds later. */
  add(name: CountName, mode: Mode): void;
  /** Keeps a measured value if it is the largest of its hour. */
  measure(name: PeakName, mode: Mode, value: number): void;
  /** Stores all counts now. Resolves when they are stored, or when storing them failed. */
  flush(): Promise<void>;
  /** Stores all counts for the last time. Later counts are lost. */
  close(): Promise<void>;
}

const numbers = () => ({ live: new Map<string, number>(), test: new Map<string, number>() });

/**
 * Creates the hourly counts of one process.
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
  /** Promise of the running write, which resolves when it has ended. Writes run one after the other. */
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
