import { inFlight } from './fixture.ts';

/** Names of the compared queue libraries. */
export const contestantNames = ['ostiary', 'pg-boss', 'graphile-worker'] as const;

/** Name of a compared queue library, from {@link contestantNames}. */
export type ContestantName = (typeof contestantNames)[number];

/**
 * Maximum number of concurrent attempts of one Ostiary process, attempts with unwritten results included.
 * Ostiary has no other setting.
 */
export const ostiarySettings = [
  { concurrency: 512 },
  { concurrency: 1_024 },
  { concurrency: 4_096 },
] as const;

/**
 * Settings of pg-boss: `batchSize`, `localConcurrency` (both documented at https://pgboss.io/api/workers),
 * and concurrent POSTs in one handler. `burstWhenBatchFull` and `notify` are always on, because without them
 * a worker waits between two batches.
 */
export const pgBossSettings = [
  { batchSize: inFlight, localConcurrency: 1, posts: inFlight },
  { batchSize: 1_000, localConcurrency: 1, posts: inFlight },
  { batchSize: 250, localConcurrency: 4, posts: inFlight / 4 },
] as const;

/**
 * Settings of graphile-worker from its page on performance (https://worker.graphile.org/docs/performance):
 * its starting point, its fastest setting, and the setting with the longest delay.
 */
export const graphileSettings = [
  { localQueue: inFlight + 1, completeJobBatchDelay: 25 },
  { localQueue: 500, completeJobBatchDelay: 0 },
  { localQueue: 500, completeJobBatchDelay: 250 },
] as const;

/** Settings of each compared queue library, and the SQL that counts its unsettled deliveries. */
export const descriptions = {
  ostiary: {
    settings: ostiarySettings,
    unsettled: 'SELECT count(*)::integer AS count FROM ostiary.pending_deliveries',
  },
  'pg-boss': {
    settings: pgBossSettings,
    unsettled: `SELECT count(*)::integer AS count FROM pgboss.job WHERE name = 'deliveries' AND state < 'completed'`,
  },
  'graphile-worker': {
    settings: graphileSettings,
    unsettled: 'SELECT count(*)::integer AS count FROM graphile_worker._private_jobs',
  },
} satisfies Readonly<Record<ContestantName, { settings: readonly object[]; unsettled: string }>>;
