import type { AddressCounts, RateLimitState } from '@ostiary/core/storage';
import { batchCalls } from './batching.ts';
import type { Database } from './database.ts';
import { isRepeatedInOne, StorageUnavailableError } from './errors.ts';
import { prepared } from './statement.ts';
import { timeoutLeft } from './timeouts.ts';

type Request = Parameters<AddressCounts['consume']>[0];
type WindowRow = Omit<RateLimitState, 'allowed'>;
interface CountedRow extends WindowRow {
  readonly bucket: string;
  /** Number of requests of the batch that the window still allowed, and therefore counted. */
  readonly granted: number;
}

/** Buckets of a batch as JSON: with arrays, PostgreSQL would plan the statement anew for each length. */
interface Counting {
  readonly buckets: string;
  readonly now: number;
}

/** Allowed difference between the clocks of processes, in milliseconds; see `RateLimitStore.consume`. */
const clockToleranceMs = 5_000;

/** Returns the rate limit state of a request that is not counted, from the stored window of its bucket. */
function uncountedState({ limit, windowMs, now }: Request, window: WindowRow | undefined): RateLimitState {
  const latestEnd = now + windowMs;
  const isCurrent =
    window !== undefined && window.endsAt > now && window.endsAt <= latestEnd + clockToleranceMs;
  const { count, endsAt } = isCurrent ? window : { count: 0, endsAt: latestEnd };
  return { allowed: count < limit, count, endsAt };
}

const nameOf = ({ bucket, limit, windowMs }: Request): string => `${limit} ${windowMs} ${bucket}`;

/**
 * SQL condition that a rate limit window has ended. A window that ends later than possible began before the
 * clock was set back, and counts as ended.
 */
const isOver = `(last.ends_at <= :now OR last.ends_at > excluded.ends_at + ${clockToleranceMs})`;

function statementOf(schema: string) {
  // One statement for every outcome. If the update had a condition, a refused request would need a second query, which
  // would see the row as it was when the statement began, or not at all. So refused requests change the row too, to record
  // the refusal. The table is unlogged, but the server still writes something for which the commit would wait, such as when
  // the table grows; the `set_config` that avoids this ends with the statement. Rows are written in the order of the buckets,
  // so that two processes do not deadlock.
  //
  // The inserted row passes two values to the update: the limit as `granted`, and the grant of a new window as `count`.
  return prepared<Counting, CountedRow>(`
    INSERT INTO ${schema}.rate_limits AS last (bucket, granted, count, ends_at)
      SELECT bucket, most, least(requests, most), :now::bigint + window_ms
      FROM json_to_recordset(:buckets::json)
        AS asked (bucket text, most integer, window_ms bigint, requests integer)
      WHERE set_config('synchronous_commit', 'off', true) = 'off'
      ORDER BY bucket COLLATE "C"
      ON CONFLICT (bucket) DO UPDATE SET
        granted = CASE
          WHEN ${isOver} THEN excluded.count
          ELSE greatest(0, least(excluded.count, excluded.granted - last.count))
        END,
        count = CASE
          WHEN ${isOver} THEN excluded.count
          ELSE last.count + greatest(0, least(excluded.count, excluded.granted - last.count))
        END,
        ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE last.ends_at END
      RETURNING bucket, least(granted, count) AS granted, count, ends_at AS "endsAt"
  `);
}

export function postgresRateLimits(database: Database): AddressCounts {
  const sql = statementOf(database.schema);

  // Batched, because all requests of a key update one row: so a busy key uses one connection, not all.
  const consume = batchCalls<Request, RateLimitState>({
    // Two limits or window lengths of one bucket in a batch would write its row twice, which fails.
    mayRetryAlone: isRepeatedInOne,
    async make(group, waitedMs) {
      const buckets = Map.groupBy(group, nameOf);
      const counting = {
        buckets: JSON.stringify([...buckets.values()].flatMap(countedRowOf)),
        now: Math.max(...group.map((request) => request.now)),
      };
      const rows = await database.changeUnsynced(
        (connection) => sql.all(connection, counting),
        timeoutLeft(waitedMs),
      );
      const counted = new Map(rows.map((row) => [row.bucket, row]));
      const seen = new Map<string, number>();
      return group.map(({ bucket }) => {
        const row = counted.get(bucket);
        if (row === undefined) throw new StorageUnavailableError('a request was not counted');
        const index = seen.get(bucket) ?? 0;
        seen.set(bucket, index + 1);
        const allowed = index < row.granted;
        const count = allowed ? row.count - row.granted + index + 1 : row.count;
        return { allowed, count, endsAt: row.endsAt };
      });
    },
  });

  const findWindows = prepared<{ buckets: readonly string[] }, WindowRow & { readonly bucket: string }>(`
    SELECT bucket, count, ends_at AS "endsAt" FROM ${database.schema}.rate_limits
    WHERE bucket = ANY (:buckets::text[])
  `);

  const peek = batchCalls({
    async make(group: readonly (readonly Request[])[], waitedMs) {
      const buckets = [...new Set(group.flat().map(({ bucket }) => bucket))];
      const rows = await database.read(
        (connection) => findWindows.all(connection, { buckets }),
        timeoutLeft(waitedMs),
      );
      const windows = new Map(rows.map((row) => [row.bucket, row]));
      return group.map((requests) =>
        requests.map((request) => uncountedState(request, windows.get(request.bucket))),
      );
    },
  });

  return { consume, peek };
}

/** Combines the counted requests of one bucket into one row. */
function countedRowOf(requests: readonly Request[]) {
  return requests.slice(0, 1).map(({ bucket, limit, windowMs }) => {
    return { bucket, most: limit, window_ms: windowMs, requests: requests.length };
  });
}
