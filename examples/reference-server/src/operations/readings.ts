import type { Database } from '../database/queries.ts';

/** More than that is not counted: whoever looks must not slow down those who work. */
export const countedAtMost = 10_000;

/** Work that is due and that nobody holds. Ages are in milliseconds, 0 when nothing waits. */
export interface Waiting {
  readonly jobs: number;
  readonly oldestJobMs: number;
  readonly deliveries: number;
  readonly oldestDeliveryMs: number;
}

/** Ostiary's tables on PostgreSQL are in a schema of their own, and deliveries that wait in a table of their own. */
function tablesOf({ schema }: Database) {
  return schema === null
    ? {
        jobs: 'jobs',
        pending: "deliveries WHERE status = 'pending' AND ready_at <= :now AND",
        deliveries: 'deliveries',
        events: 'events',
      }
    : {
        jobs: 'ostiary.jobs',
        pending: 'ostiary.pending_deliveries WHERE coalesce(ready_at, 0) <= :now AND',
        deliveries: 'ostiary.deliveries',
        events: 'ostiary.events',
      };
}

interface Due {
  readonly count: number;
  readonly oldest: number | null;
}

/** Reads past Ostiary's interface, which has no word for this: the only place that does. At most 10,000 of each kind. */
export async function readWaiting(database: Database, now: number): Promise<Waiting> {
  const { jobs, pending } = tablesOf(database);
  const due = async (from: string): Promise<{ readonly count: number; readonly ageMs: number }> => {
    const row = await database.get<Due>(
      `SELECT count(*) AS count, min(due_at) AS oldest
       FROM (SELECT due_at FROM ${from} LIMIT ${countedAtMost}) AS due`,
      { now },
    );
    return { count: row?.count ?? 0, ageMs: Math.max(0, now - (row?.oldest ?? now)) };
  };
  const [job, delivery] = await Promise.all([
    due(`${jobs} WHERE due_at <= :now AND (lease_ends_at IS NULL OR lease_ends_at <= :now)`),
    due(`${pending} due_at <= :now`),
  ]);
  return {
    jobs: job.count,
    oldestJobMs: job.ageMs,
    deliveries: delivery.count,
    oldestDeliveryMs: delivery.ageMs,
  };
}

/** Deliveries that were given up since then, 10,000 at most. */
export async function countDropped(database: Database, since: number): Promise<number> {
  const { deliveries } = tablesOf(database);
  const row = await database.get<{ count: number }>(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM ${deliveries} WHERE status = 'dropped' AND ended_at >= :since LIMIT ${countedAtMost}) AS dropped`,
    { since },
  );
  return row?.count ?? 0;
}

/** Jobs that failed and are tried again, such as transfers of which nobody knows whether money moved. */
export async function countFailing(database: Database): Promise<number> {
  const { jobs } = tablesOf(database);
  const row = await database.get<{ count: number }>(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM ${jobs} WHERE last_error IS NOT NULL LIMIT ${countedAtMost}) AS failing`,
  );
  return row?.count ?? 0;
}

/** When the oldest event that is kept was made. */
export async function oldestEvent(database: Database): Promise<number | null> {
  const { events } = tablesOf(database);
  const row = await database.get<{ created_at: number }>(
    `SELECT created_at FROM ${events} ORDER BY number LIMIT 1`,
  );
  return row?.created_at ?? null;
}

/** Names of the keys that ID tokens are signed with, those that come and those that end included. */
export async function signingKeyIds(database: Database): Promise<readonly string[]> {
  const table = database.schema === null ? 'signing_keys' : 'ostiary.signing_keys';
  return (await database.all<{ kid: string }>(`SELECT kid FROM ${table}`)).map(({ kid }) => kid);
}

/** How many secrets one sealing key has sealed. */
export interface SealedCount {
  /** The name of the key, as Ostiary writes it. */
  readonly seal: string;
  readonly count: number;
}

/** Where secrets are sealed. That of an API key which works no more is of no use to anybody. */
const sealedColumns = [
  { name: 'signing_keys', column: 'sealed_private_jwk' },
  {
    name: 'api_keys',
    column: 'sealed_signing_secret',
    where: 'AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)',
  },
  { name: 'webhook_endpoints', column: 'sealed_secret' },
];

/** Secrets in use that another key than `current` has sealed, by key; 10,000 of each table at most. */
export async function countSecrets(
  database: Database,
  current: string,
  now: number,
): Promise<readonly SealedCount[]> {
  const counts = new Map<string, number>();
  for (const { name, column, where = '' } of sealedColumns) {
    const table = database.schema === null ? name : `ostiary.${name}`;
    // Format, name of the key, and the rest: `v1.0123456789ab.…`.
    const rows = await database.all<SealedCount>(
      `SELECT seal, count(*) AS count FROM
         (SELECT substr(${column}, 4, 12) AS seal FROM ${table} WHERE substr(${column}, 4, 12) <> :current ${where}
          LIMIT ${countedAtMost}) AS sealed
       GROUP BY seal ORDER BY seal`,
      { current, ...(where !== '' && { now }) },
    );
    for (const { seal, count } of rows) counts.set(seal, (counts.get(seal) ?? 0) + count);
  }
  return Array.from(counts, ([seal, count]) => ({ seal, count }));
}

/** Where partners want to be told, at most `limit` addresses of live endpoints, those with https first. */
export async function endpointUrls(database: Database, limit: number): Promise<readonly string[]> {
  const [table, isOn] =
    database.schema === null
      ? ['webhook_endpoints', 'enabled = 1']
      : ['ostiary.webhook_endpoints', 'enabled'];
  const rows = await database.all<{ url: string }>(
    `SELECT url FROM ${table} WHERE mode = 'live' AND ${isOn} ORDER BY CASE WHEN url LIKE 'https:%' THEN 0 ELSE 1 END, id LIMIT :limit`,
    { limit },
  );
  return rows.map(({ url }) => url);
}
