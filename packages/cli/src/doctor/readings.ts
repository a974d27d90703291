import type { DoctorDatabase, SealedCount } from './examined.ts';

/** Maximum number of rows to count, so that the doctor does not slow down the servers. */
export const countedAtMost = 10_000;

/** Work that is due and not claimed by a worker. Ages are in milliseconds, 0 if no work waits. */
export interface Waiting {
  readonly jobs: number;
  readonly oldestJobMs: number;
  readonly deliveries: number;
  readonly oldestDeliveryMs: number;
}

/**
 * Database connection for statements without parameters. Values are part of the SQL text, which is safe,
 * because they are numbers and key ids of Ostiary's own.
 */
type Database = Pick<DoctorDatabase, 'engine' | 'query'>;

/** Returns a table's name in SQL. PostgreSQL has Ostiary's tables in a schema of their own. */
const tableIn = ({ engine }: Database, name: string): string =>
  engine === 'sqlite' ? name : `ostiary.${name}`;

/**
 * Counts the rows of a part of an SQL statement (`FROM …`), at most 10,000. Drivers return large integers as
 * text.
 */
async function count(database: Database, from: string): Promise<number> {
  const [row] = await database.query<{ count: number | string }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${from} LIMIT ${countedAtMost}) AS counted`,
  );
  return Number(row?.count ?? 0);
}

/**
 * Reads the due work directly from the tables, because opening a storage would migrate the database. Counts
 * at most 10,000 rows of each kind.
 */
export async function readWaiting(database: Database, time: number): Promise<Waiting> {
  const now = Math.floor(time);
  const due = async (from: string): Promise<{ readonly count: number; readonly ageMs: number }> => {
    const [row] = await database.query<{ count: number | string; oldest: number | string | null }>(
      `SELECT count(*) AS count, min(due_at) AS oldest
       FROM (SELECT due_at FROM ${from} AND due_at <= ${now} LIMIT ${countedAtMost}) AS due`,
    );
    return { count: Number(row?.count ?? 0), ageMs: Math.max(0, now - Number(row?.oldest ?? now)) };
  };
  const free = `(lease_ends_at IS NULL OR lease_ends_at <= ${now})`;
  const pending =
    database.engine === 'sqlite'
      ? `deliveries WHERE status = 'pending' AND ready_at <= ${now}`
      : `ostiary.pending_deliveries WHERE coalesce(ready_at, due_at) <= ${now}`;
  const { count: jobs, ageMs: oldestJobMs } = await due(`${tableIn(database, 'jobs')} WHERE ${free}`);
  const { count: deliveries, ageMs: oldestDeliveryMs } = await due(pending);
  return { jobs, oldestJobMs, deliveries, oldestDeliveryMs };
}

/** Counts the deliveries that were given up at or after `since`; at most 10,000. */
export const countDropped = (database: Database, since: number): Promise<number> =>
  count(
    database,
    `${tableIn(database, 'deliveries')} WHERE status = 'dropped' AND ended_at >= ${Math.floor(since)}`,
  );

/** Counts the endpoints that fail now and had a failed attempt at or after `since`; at most 10,000. */
export const countFailingEndpoints = (database: Database, since: number): Promise<number> =>
  count(
    database,
    `${tableIn(database, 'endpoint_failures')} WHERE since IS NOT NULL AND at >= ${Math.floor(since)}`,
  );

/**
 * Counts the jobs that failed and will be retried, such as transfers with an unknown outcome; at most 10,000.
 */
export const countFailing = (database: Database): Promise<number> =>
  count(database, `${tableIn(database, 'jobs')} WHERE last_error IS NOT NULL`);

/** Returns the time of the oldest event, in milliseconds since the Unix epoch; `null` if there is no event. */
export async function oldestEvent(database: Database): Promise<number | null> {
  const [row] = await database.query<{ created_at: number | string }>(
    `SELECT created_at FROM ${tableIn(database, 'events')} ORDER BY number LIMIT 1`,
  );
  return row === undefined ? null : Number(row.created_at);
}

/** Returns the key IDs of all ID token signing keys: current, upcoming, and retired but still published. */
export async function signingKeyIds(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ kid: string }>(
    `SELECT kid FROM ${tableIn(database, 'signing_keys')} WHERE sealed_private_jwk <> ''`,
  );
  return rows.map(({ kid }) => kid);
}

/**
 * Columns with encrypted secrets. Secrets of expired or revoked API keys are left out, because they are never
 * used again.
 */
const sealedColumns = (now: number) => [
  { name: 'signing_keys', column: 'sealed_private_jwk', where: `AND sealed_private_jwk <> ''` },
  {
    name: 'api_keys',
    column: 'sealed_signing_secret',
    where: `AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${Math.floor(now)})`,
  },
  { name: 'webhook_endpoints', column: 'sealed_secret', where: '' },
];

/**
 * Counts the secrets in use that other sealing keys than `current` have encrypted, by key; at most 10,000 per
 * table.
 */
export async function countSecrets(
  database: Database,
  current: string,
  now: number,
): Promise<readonly SealedCount[]> {
  if (!/^[0-9a-f]*$/.test(current)) throw new TypeError('countSecrets: current is no name of a key');
  const counts = new Map<string, number>();
  for (const { name, column, where } of sealedColumns(now)) {
    // A sealed value consists of format, key name and content: `v1.0123456789ab.…`.
    const seal = `substr(${column}, 4, 12)`;
    const rows = await database.query<{ seal: string; count: number | string }>(
      `SELECT seal, count(*) AS count FROM
         (SELECT ${seal} AS seal FROM ${tableIn(database, name)} WHERE ${seal} <> '${current}' ${where}
          LIMIT ${countedAtMost}) AS sealed
       GROUP BY seal ORDER BY seal`,
    );
    for (const row of rows) counts.set(row.seal, (counts.get(row.seal) ?? 0) + Number(row.count));
  }
  return Array.from(counts, ([seal, count]) => ({ seal, count }));
}

/** Reads the URLs of enabled webhook endpoints for live events, at most `limit`, those with https first. */
export async function endpointUrls(database: Database, limit: number): Promise<readonly string[]> {
  const isOn = database.engine === 'sqlite' ? 'enabled = 1' : 'enabled';
  const rows = await database.query<{ url: string }>(
    `SELECT url FROM ${tableIn(database, 'webhook_endpoints')} WHERE mode = 'live' AND ${isOn}
     ORDER BY CASE WHEN url LIKE 'https:%' THEN 0 ELSE 1 END, id LIMIT ${limit}`,
  );
  return rows.map(({ url }) => url);
}
