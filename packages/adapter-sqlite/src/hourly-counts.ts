import type { CountedPeriod, HourlyCount, HourlyCountStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

const hourMs = 3_600_000;

export function sqliteHourlyCounts(database: Database): HourlyCountStore {
  const sql = database.prepare((connection) => ({
    add: connection.prepare<[HourlyCount & { readonly hour: number }]>(`
      INSERT INTO hourly_counts (hour, name, mode, total, peak) VALUES (:hour, :name, :mode, :count, :count)
      ON CONFLICT (hour, name, mode) DO UPDATE SET total = total + :count, peak = max(peak, :count)
    `),

    read: connection.prepare<[{ from: number; to: number; periodMs: number }], CountedPeriod>(`
      SELECT hour - (hour - :from) % :periodMs AS at, name, mode, sum(total) AS total, max(peak) AS peak
      FROM hourly_counts WHERE hour >= :from AND hour < :to
      GROUP BY at, name, mode ORDER BY at, name, mode
    `),

    purge: connection.prepare<[{ before: number; limit: number }]>(`
      DELETE FROM hourly_counts WHERE (hour, name, mode) IN (
        SELECT hour, name, mode FROM hourly_counts WHERE hour < :before ORDER BY hour LIMIT :limit
      )
    `),
  }));

  return {
    async add(counts, now) {
      const hour = now - (now % hourMs);
      const rows = counts.map((count) => ({ ...count, hour }));
      await database.write(() => {
        for (const row of rows) sql().add.run(row);
      });
    },

    read: ({ from, to, periodMs }) => database.read(() => sql().read.all({ from, to, periodMs })),

    purge: (before, limit) => database.write(() => sql().purge.run({ before, limit }).changes),
  };
}
