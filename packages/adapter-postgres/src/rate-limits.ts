import type { RateLimitState, SharedRateLimits } from '@ostiary/core';
import { type Database, patienceMs } from './database.ts';
import { StorageUnavailableError } from './errors.ts';
import { inGroups } from './groups.ts';
import { prepared } from './statement.ts';

type Request = Parameters<SharedRateLimits['consume']>[0];
type WindowRow = Omit<RateLimitState, 'allowed'>;
interface CountedRow extends WindowRow {
  /** How many of the requests were counted. */
  readonly granted: number;
}

export function postgresRateLimits(database: Database): SharedRateLimits {
  const { schema } = database;
  const sql = {
    // One statement, which answers in every case. With a condition on the update, and a look at the row where it does
    // not hold, that look would see the row as it was when the statement began, or not at all. So refused requests
    // change the row too: it says that they were refused. The table is unlogged, and still the server writes something
    // that its commit would wait for, such as when the table grows; `set_config` ends with this statement.
    consume: prepared<Request & { readonly requests: number }, CountedRow>(`
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
      RETURNING granted, count, ends_at AS "endsAt"
    `),

    peek: prepared<Pick<Request, 'bucket' | 'now'>, WindowRow>(`
      SELECT count, ends_at AS "endsAt" FROM ${schema}.rate_limits WHERE bucket = :bucket AND ends_at > :now
    `),
  };

  // Every request of a bucket writes the same row, one after the other. Those that would wait for it in this process
  // are counted together, so that a busy key takes one connection and not all.
  const consume = inGroups(
    ({ bucket, limit, windowMs }: Request) => `${limit} ${windowMs} ${bucket}`,
    async (group: readonly Request[], waitedMs: number): Promise<RateLimitState[]> => {
      const [first] = group;
      if (first === undefined) return [];
      const { bucket, limit, windowMs } = first;
      const now = Math.max(...group.map((request) => request.now));
      const request = { bucket, limit, windowMs, now, requests: group.length };
      const counted = await database.jot(
        (connection) => sql.consume.get(connection, request),
        Math.max(1, patienceMs - waitedMs),
      );
      if (counted === undefined) throw new StorageUnavailableError('a request was not counted');
      const { granted, count, endsAt } = counted;
      return group.map((_, index) => {
        const allowed = index < granted;
        return { allowed, count: allowed ? count - granted + index + 1 : count, endsAt };
      });
    },
  );

  return {
    consume,

    async peek({ bucket, limit, windowMs, now }) {
      const window = await database.read((connection) => sql.peek.get(connection, { bucket, now }));
      const { count, endsAt } = window ?? { count: 0, endsAt: now + windowMs };
      return { allowed: count < limit, count, endsAt };
    },
  };
}
