import type { Mode } from './partners.ts';

/** A number to add to a count of the current hour. */
export interface HourlyCount {
  /** Name of the count, such as `sign_ins`: at most 40 of `a-z_`. */
  readonly name: string;
  readonly mode: Mode;
  /** Number to add: an integer from 0 on. */
  readonly count: number;
}

/** Sum of a count over the hours of a period. Periods without a count have no row. */
export interface CountedPeriod {
  /** Beginning of the period, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly name: string;
  readonly mode: Mode;
  /** Sum of all numbers that were added in the period. */
  readonly total: number;
  /** Largest number that was added at once in the period: for measured values, whose sum has no meaning. */
  readonly peak: number;
}

/** Counts per hour, to which all processes add, for charts of what the service does. */
export interface HourlyCountStore {
  /**
   * Adds numbers to the counts of the hour that contains `now`, all of them or none. A call has at most one
   * number for each name and mode. Simultaneous calls add up.
   */
  add(counts: readonly HourlyCount[], now: number): Promise<void>;
  /**
   * Reads the counts of the hours from `from` (included) to `to` (excluded), added up in periods of
   * `periodMs`; the first period begins at `from`. All three values are multiples of an hour. Sorted by
   * period, then by the name of the count, then by mode.
   */
  read(range: {
    readonly from: number;
    readonly to: number;
    readonly periodMs: number;
  }): Promise<CountedPeriod[]>;
  /**
   * Removes the counts of hours that began before `before`, the oldest first, at most `limit`. Returns the
   * number of removed rows.
   */
  purge(before: number, limit: number): Promise<number>;
}
