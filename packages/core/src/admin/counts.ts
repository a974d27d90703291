import { z } from 'zod';
import type { Core } from '../options/context.ts';
import type { CountedPeriod } from '../ports/hourly-counts.ts';
import type { Mode } from '../ports/partners.ts';
import type { CountName, PeakName } from '../telemetry/hourly-counts.ts';
import { iso } from '../time/clock.ts';
import { checked } from './checked.ts';

const hourMs = 3_600_000;

/**
 * For hours and for days: the length of a period in milliseconds, and the largest and the default number of
 * periods. Counts of the last 90 days are kept.
 */
const periods = {
  hour: { ms: hourMs, most: 90 * 24, usual: 24 },
  day: { ms: 24 * hourMs, most: 90, usual: 30 },
} as const;

/** Counts of the service's work in one period. */
export interface Counts {
  /**
   * Number of sign-ins in the period: authorization codes that were exchanged for tokens. 0 in test mode,
   * which has no apps.
   */
  readonly signIns: number;
  /**
   * Numbers of webhook attempts in the period: `accepted` counts those to which the endpoint responded with a
   * 2xx status, `failed` all others, except those that a stopping worker cut off.
   */
  readonly deliveries: { readonly accepted: number; readonly failed: number };
  /**
   * Numbers of requests to the partner API: all of them, and those with a 4xx and a 5xx status. The mode of a request is
   * the one that its key names; requests without a key count as live.
   */
  readonly requests: { readonly all: number; readonly clientErrors: number; readonly serverErrors: number };
  /**
   * Longest time that a job or delivery was due before a worker took it, in milliseconds; `null` if no work was taken.
   */
  readonly longestWaitMs: number | null;
}

/** Counts of the service's work in one hour or one day, with the start of that period. */
export interface CountsOfPeriod extends Counts {
  /** Beginning of the hour or day in UTC, ISO 8601. */
  readonly at: string;
}

/** Selects the counts that `admin.counts` returns. */
export interface CountsRequest {
  /** Mode (live or test) whose counts are returned. @defaultValue `"live"` */
  readonly mode?: Mode;
  /** Length of a period. Days begin at midnight UTC. @defaultValue `"hour"` */
  readonly by?: 'hour' | 'day';
  /**
   * Number of hours or days to return, the current one included, which is not over yet. At most 90 days.
   * @defaultValue 24 hours or 30 days
   */
  readonly last?: number;
}

/** Counts of the service's work: one total, and one entry for each period. */
export interface CountsReport {
  readonly mode: Mode;
  readonly by: 'hour' | 'day';
  /** Sums of the counts over all periods, and the longest wait of work in them. */
  readonly total: Counts;
  /** Counts of each period, oldest first and without a gap. The last period is the current one. */
  readonly periods: readonly CountsOfPeriod[];
}

const request = z.strictObject({
  mode: z.enum(['live', 'test']).default('live'),
  by: z.enum(['hour', 'day']).default('hour'),
  last: z.int().min(1).optional(),
});

/** Adds up the stored counts of one period. */
function countsOf(rows: readonly CountedPeriod[]): Counts {
  const named = (name: CountName | PeakName) => rows.filter((row) => row.name === name);
  const sum = (name: CountName): number => named(name).reduce((total, row) => total + row.total, 0);
  const waits = named('wait_ms').map(({ peak }) => peak);
  return {
    signIns: sum('sign_ins'),
    deliveries: { accepted: sum('deliveries_accepted'), failed: sum('deliveries_failed') },
    requests: {
      all: sum('requests'),
      clientErrors: sum('requests_refused'),
      serverErrors: sum('requests_failed'),
    },
    longestWaitMs: waits.length === 0 ? null : Math.max(...waits),
  };
}

/**
 * Stores this process's own counts, then returns the counts of sign-ins, webhook attempts, API requests and
 * waits for a number of hours or days, which one storage call reads.
 * @throws TypeError if the request is invalid
 */
export async function countsReport(
  { storage, clock, counts }: Core,
  given: CountsRequest,
): Promise<CountsReport> {
  const { mode, by, last: wanted } = checked(request, given);
  const { ms, most, usual } = periods[by];
  const last = wanted ?? usual;
  if (last > most) throw new TypeError(`last: has to be at most ${most}`);
  // This process's own counts, of which the newest are not stored yet.
  await counts.flush();
  const now = clock.now();
  const to = now - (now % ms) + ms;
  const from = to - last * ms;
  const read = await storage.hourlyCounts.read({ from, to, periodMs: ms });
  const rows = read.filter((row) => row.mode === mode);
  const byTime = Map.groupBy(rows, ({ at }) => at);
  return {
    ...{ mode, by },
    total: countsOf(rows),
    periods: Array.from({ length: last }, (_, index) => {
      const at = from + index * ms;
      return { at: iso(at), ...countsOf(byTime.get(at) ?? []) };
    }),
  };
}
