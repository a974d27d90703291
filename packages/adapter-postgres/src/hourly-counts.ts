import type { CountedPeriod, HourlyCountStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { longTimeoutMs } from './timeouts.ts';

const hourMs = 3_600_000;

function statementsIn(schema: string) {
  return {
    // Sorted, so that simultaneous calls lock the rows in the same order.
    add: statement<{ readonly hour: number; readonly counts: string }>(`
      INSERT INTO ${schema}.hourly_counts AS stored (hour, name, mode, total, peak)
      SELECT :hour, name, mode, count, count
      FROM json_to_recordset(:counts::json) AS counted (name text, mode text, count bigint)
      ORDER BY name COLLATE "C", mode COLLATE "C"
      ON CONFLICT (hour, name, mode) DO UPDATE
        SET total = stored.total + excluded.total, peak = greatest(stored.peak, excluded.peak)
    `),

    read: statement<{ from: number; to: number; periodMs: number }, CountedPeriod>(`
      SELECT hour - (hour - :from::bigint) % :periodMs::bigint AS at, name, mode,
        sum(total)::bigint AS total, max(peak) AS peak
      FROM ${schema}.hourly_counts WHERE hour >= :from::bigint AND hour < :to::bigint
      GROUP BY at, name, mode ORDER BY at, name, mode
    `),

    purge: statement<{ before: number; limit: number }>(`
      DELETE FROM ${schema}.hourly_counts WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM ${schema}.hourly_counts
        WHERE hour < :before ORDER BY hour LIMIT :limit FOR UPDATE SKIP LOCKED
      ))
    `),
  };
}

export function postgresHourlyCounts(database: Database): HourlyCountStore {
  const sql = statementsIn(database.schema);

  return {
    async add(counts, now) {
      const given = { hour: now - (now % hourMs), counts: JSON.stringify(counts) };
      await database.change((connection) => sql.add.run(connection, given));
    },

    read: ({ from, to, periodMs }) => database.all(sql.read, { from, to, periodMs }),

    purge: (before, limit) =>
      database.change((connection) => sql.purge.run(connection, { before, limit }), longTimeoutMs),
  };
}
