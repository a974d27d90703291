import type { RateLimitState, SharedRateLimits } from '@ostiary/core';
import type { Database } from './database.ts';
import { StorageUnavailableError } from './errors.ts';
import { statement } from './statement.ts';

type Request = Parameters<SharedRateLimits['consume']>[0];
type WindowRow = Omit<RateLimitState, 'allowed'>;

export function postgresRateLimits(database: Database): SharedRateLimits {
  const { schema } = database;
  const sql = {
    // One statement, which answers in every case. With a condition on the update, and a look at the row where it does
    // not hold, that look would see the row as it was when the statement began, or not at all. So a refused request
    // changes the row too: it says that it was refused.
    consume: statement<Request, RateLimitState>(`
      INSERT INTO ${schema}.rate_limits AS last (bucket, allowed, count, ends_at)
      VALUES (:bucket, true, 1, :now::bigint + :windowMs::bigint)
      ON CONFLICT (bucket) DO UPDATE SET
        allowed = last.ends_at <= :now OR last.count < :limit,
        count = CASE
          WHEN last.ends_at <= :now THEN 1
          WHEN last.count < :limit THEN last.count + 1
          ELSE last.count
        END,
        ends_at = CASE WHEN last.ends_at <= :now THEN excluded.ends_at ELSE last.ends_at END
      RETURNING allowed, count, ends_at AS "endsAt"
    `),

    peek: statement<Pick<Request, 'bucket' | 'now'>, WindowRow>(`
      SELECT count, ends_at AS "endsAt" FROM ${schema}.rate_limits WHERE bucket = :bucket AND ends_at > :now
    `),
  };

  return {
    async consume({ bucket, limit, windowMs, now }) {
      const request = { bucket, limit, windowMs, now };
      const state = await database.change((connection) => sql.consume.get(connection, request));
      if (state === undefined) throw new StorageUnavailableError('a request was not counted');
      return state;
    },

    async peek({ bucket, limit, windowMs, now }) {
      const window = await database.read((connection) => sql.peek.get(connection, { bucket, now }));
      const { count, endsAt } = window ?? { count: 0, endsAt: now + windowMs };
      return { allowed: count < limit, count, endsAt };
    },
  };
}
