import { Client, type Pool } from 'pg';
import { onTestFinished } from 'vitest';

/**
 * Starts a transaction of another client, which holds the locks of a statement until the test releases them.
 */
export async function holding(url: string, sql: string, values: readonly unknown[] = []): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query(sql, [...values]);
  return client;
}

/** Returns the process ids of database connections whose statements on a schema wait for a lock. */
export async function waiting(pool: Pool, schema: string): Promise<readonly number[]> {
  const { rows } = await pool.query(
    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND strpos(query, $1) > 0",
    [`"${schema}"`],
  );
  return rows.map(({ pid }) => pid);
}

/**
 * Resolves once at least this many statements on a schema wait for a lock, and returns the process ids of
 * their connections.
 */
export async function untilWaiting(pool: Pool, schema: string, count = 1): Promise<readonly number[]> {
  for (;;) {
    const found = await waiting(pool, schema);
    if (found.length >= count) return found;
  }
}

/**
 * Resolves once all of the given calls wait for a lock.
 *
 * @throws Error if a call ends before: on a machine that stalls it times out, and the test is repeated
 */
export async function allWaiting(
  pool: Pool,
  schema: string,
  calls: readonly Promise<unknown>[],
): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  for (const call of calls) call.then(end, end);
  while ((await waiting(pool, schema)).length < calls.length)
    if (isOver) throw new Error('a call ended before all of them waited');
}
