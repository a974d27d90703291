import type { RateLimitState, SharedRateLimits } from '@ostiary/core/storage';
import { liveKeys } from './api-keys.ts';
import { type Database, patienceMs } from './database.ts';
import { StorageUnavailableError } from './errors.ts';
import { inGroups } from './groups.ts';
import { lookup, prepared } from './statement.ts';

type Request = Parameters<SharedRateLimits['consume']>[0];
type WindowRow = Omit<RateLimitState, 'allowed'>;
interface CountedRow extends WindowRow {
  /** How many of the requests were counted. */
  readonly granted: number;
  /** Which of the keys live. */
  readonly live: readonly string[];
}

/** A request, and the key that made it, or `null`. */
type Counted = Request & { readonly keyId: string | null };

export function postgresRateLimits(database: Database): SharedRateLimits {
  const { schema } = database;
  const sql = {
    // One statement, which answers in every case. With a condition on the update, and a look at the row where it does
    // not hold, that look would see the row as it was when the statement began, or not at all. So refused requests
    // change the row too: it says that they were refused. The table is unlogged, and still the server writes something
    // that its commit would wait for, such as when the table grows; `set_config` ends with this statement.
    consume: prepared<Request & { readonly requests: number; readonly keys: readonly string[] }, CountedRow>(`
      INSERT INTO ${schema}.rate_limits AS last (bucket, granted, count, ends_at)
      SELECT
        :bucket::text, least(:requests::integer, :limit::integer), least(:requests::integer, :limit::integer),
        :now::bigint + :windowMs::bigint
      WHERE set_config('synchronous_commit', 'off', true) = 'off'
      ON CONFLICT (bucket) DO UPDATE SET
        granted = CASE
          WHEN last.ends_at <= :now THEN excluded.granted
          ELSE greatest(0, least(:requests, :limit - last.count))
        END,
        count = CASE
          WHEN last.ends_at <= :now THEN excluded.count
          ELSE last.count + greatest(0, least(:requests, :limit - last.count))
        END,
        ends_at = CASE WHEN last.ends_at <= :now THEN excluded.ends_at ELSE last.ends_at END
      RETURNING granted, count, ends_at AS "endsAt", ARRAY (
        SELECT id FROM ${schema}.api_keys JOIN ${schema}.partners ON partners.slug = api_keys.partner
        WHERE ${liveKeys}
      ) AS live
    `),

    peek: lookup<Pick<Request, 'bucket' | 'now'>, WindowRow>(
      { bucket: 'text', now: 'bigint' },
      `
      SELECT count, ends_at AS "endsAt" FROM ${schema}.rate_limits WHERE bucket = :bucket AND ends_at > :now
    `,
    ),
  };

  // Every request of a bucket writes the same row, one after the other. Those that would wait for it in this process
  // are counted together, so that a busy key takes one connection and not all.
  const consume = inGroups({
    keyOf: ({ bucket, limit, windowMs }: Counted) => `${limit} ${windowMs} ${bucket}`,
    async make(group: readonly Counted[], waitedMs) {
      const [first] = group;
      if (first === undefined) return [];
      const { bucket, limit, windowMs } = first;
      const now = Math.max(...group.map((request) => request.now));
      const keys = [...new Set(group.flatMap(({ keyId }) => keyId ?? []))];
      const request = { bucket, limit, windowMs, now, requests: group.length, keys };
      const counted = await database.changeUnsynced(
        (connection) => sql.consume.get(connection, request),
        Math.max(1, patienceMs - waitedMs),
      );
      if (counted === undefined) throw new StorageUnavailableError('a request was not counted');
      const { granted, count, endsAt, live } = counted;
      return group.map(({ keyId }, index) => {
        const allowed = index < granted;
        const state = { allowed, count: allowed ? count - granted + index + 1 : count, endsAt };
        return { state, keyIsLive: keyId !== null && live.includes(keyId) };
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
