import type { RateLimitState, SharedRateLimits } from '@ostiary/core/storage';
import { liveKeys } from './api-keys.ts';
import { type Database, patienceMs } from './database.ts';
import { isRepeatedInOne, StorageUnavailableError } from './errors.ts';
import { inGroups } from './groups.ts';
import { lookup, prepared } from './statement.ts';

type Request = Parameters<SharedRateLimits['consume']>[0];
type WindowRow = Omit<RateLimitState, 'allowed'>;
interface CountedRow extends WindowRow {
  readonly bucket: string;
  /** How many of the requests were counted. */
  readonly granted: number;
  /** Which of the keys live; of all buckets, in one of the rows. */
  readonly live: readonly string[] | null;
}

/** Requests of many buckets, an array for each column, and the keys that made them. */
interface Counting {
  readonly buckets: readonly string[];
  readonly limits: readonly number[];
  readonly windows: readonly number[];
  readonly requests: readonly number[];
  readonly keys: readonly string[];
  readonly now: number;
}

/** A request, and the key that made it, or `null`. */
type Counted = Request & { readonly keyId: string | null };

const nameOf = ({ bucket, limit, windowMs }: Request): string => `${limit} ${windowMs} ${bucket}`;

export function postgresRateLimits(database: Database): SharedRateLimits {
  const { schema } = database;
  const sql = {
    // One statement, which answers in every case. With a condition on the update, and a look at the row where it does
    // not hold, that look would see the row as it was when the statement began, or not at all. So refused requests
    // change the row too: it says that they were refused. The table is unlogged, and still the server writes something
    // that its commit would wait for, such as when the table grows; `set_config` ends with this statement. In the order of
    // the buckets, so that two processes do not wait for each other in a circle.
    //
    // What is proposed has the limit as `granted`, and as `count` what a new window would grant: so an update knows both.
    consume: prepared<Counting, CountedRow>(`
      WITH counted AS (
        INSERT INTO ${schema}.rate_limits AS last (bucket, granted, count, ends_at)
        SELECT bucket, most, least(requests, most), :now::bigint + window_ms
        FROM unnest(:buckets::text[], :limits::integer[], :windows::bigint[], :requests::integer[])
          AS asked (bucket, most, window_ms, requests)
        WHERE set_config('synchronous_commit', 'off', true) = 'off'
        ORDER BY bucket COLLATE "C"
        ON CONFLICT (bucket) DO UPDATE SET
          granted = CASE
            WHEN last.ends_at <= :now THEN excluded.count
            ELSE greatest(0, least(excluded.count, excluded.granted - last.count))
          END,
          count = CASE
            WHEN last.ends_at <= :now THEN excluded.count
            ELSE last.count + greatest(0, least(excluded.count, excluded.granted - last.count))
          END,
          ends_at = CASE WHEN last.ends_at <= :now THEN excluded.ends_at ELSE last.ends_at END
        RETURNING bucket, least(granted, count) AS granted, count, ends_at
      )
      SELECT bucket, granted, count, ends_at AS "endsAt", CASE WHEN row_number() OVER () = 1 THEN ARRAY (
        SELECT id FROM ${schema}.api_keys JOIN ${schema}.partners ON partners.slug = api_keys.partner
        WHERE ${liveKeys}
      ) END AS live
      FROM counted
    `),

    peek: lookup<Pick<Request, 'bucket' | 'now'>, WindowRow>(
      { bucket: 'text', now: 'bigint' },
      `SELECT count, ends_at AS "endsAt" FROM ${schema}.rate_limits WHERE bucket = :bucket AND ends_at > :now`,
    ),
  };

  // Every request of a key is counted in one row: a busy key takes one connection, and not all.
  const consume = inGroups({
    // The same bucket with two limits.
    isOfOne: isRepeatedInOne,
    async make(group: readonly Counted[], waitedMs) {
      const buckets = Map.groupBy(group, nameOf);
      const each = [...buckets.values()].flatMap((requests) => requests.slice(0, 1));
      const counting = {
        buckets: each.map(({ bucket }) => bucket),
        limits: each.map(({ limit }) => limit),
        windows: each.map(({ windowMs }) => windowMs),
        requests: [...buckets.values()].map(({ length }) => length),
        keys: [...new Set(group.flatMap(({ keyId }) => keyId ?? []))],
        now: Math.max(...group.map((request) => request.now)),
      };
      const rows = await database.changeUnsynced(
        (connection) => sql.consume.all(connection, counting),
        Math.max(1, patienceMs - waitedMs),
      );
      const live = new Set(rows.flatMap((row) => row.live ?? []));
      const counted = new Map(rows.map((row) => [row.bucket, row]));
      const seen = new Map<string, number>();
      return group.map(({ bucket, keyId }) => {
        const row = counted.get(bucket);
        if (row === undefined) throw new StorageUnavailableError('a request was not counted');
        const index = seen.get(bucket) ?? 0;
        seen.set(bucket, index + 1);
        const allowed = index < row.granted;
        const count = allowed ? row.count - row.granted + index + 1 : row.count;
        return {
          state: { allowed, count, endsAt: row.endsAt },
          keyIsLive: keyId !== null && live.has(keyId),
        };
      });
    },
  });

  return {
    consume: async (request) => (await consume({ ...request, keyId: null })).state,

    async consumeOfKey(keyId, request) {
      const { state, keyIsLive } = await consume({ ...request, keyId });
      return { ...state, keyIsLive };
    },

    async peek({ bucket, limit, windowMs, now }) {
      const window = await database.get(sql.peek, { bucket, now });
      const { count, endsAt } = window ?? { count: 0, endsAt: now + windowMs };
      return { allowed: count < limit, count, endsAt };
    },
  };
}
