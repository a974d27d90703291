import { deadlineIn } from './deadline.ts';
import { noWritesParameter, StorageUnavailableError, takesNoWrites } from './errors.ts';
import { postgresTypes } from './parsers.ts';
import { ignore, type PostgresClient, type PostgresPool, type PostgresPoolClient } from './pool.ts';

/** Connections that led to the primary when they were opened. */
const known = new WeakSet<PostgresClient>();

/** Maximum number of connections that replace one which broke before its first use. */
const replacements = 4;

/**
 * SQL condition that is true in a transaction that may write, so only on the primary. In any other
 * transaction PostgreSQL refuses the statement, because the setting does not exist. Both calls are STABLE, so
 * the planner makes a one-time filter of them, evaluated once before any row is read: 1 µs.
 */
const takesWrites = `current_setting(
  CASE current_setting('transaction_read_only') WHEN 'off' THEN 'transaction_read_only' ELSE '${noWritesParameter}' END
) = 'off'`;

/**
 * Wraps a SELECT so that only the primary runs it, and not in a read-only transaction. A standby would run
 * reads too, but may be behind: a revoked token would be valid there. Checking the connection is not enough:
 * behind a pooler such as PgBouncer a connection outlives its server, and may lead to a standby a moment
 * later. The rows, their order and the plan stay the same. A statement that writes needs no wrapping: a
 * standby refuses it.
 *
 * @example
 * ```ts
 * import { primaryOnly } from '@ostiary/adapter-postgres';
 *
 * const text = primaryOnly('SELECT name FROM users WHERE id = $1');
 * ```
 */
export function primaryOnly(select: string): string {
  return `SELECT * FROM (\n${select}\n) AS answered WHERE ${takesWrites}`;
}

/**
 * Connects to the primary. Each new connection is checked once, so that a pool with several hosts finds the
 * primary among them, and closed if it leads to a standby. Later changes are detected by the statements
 * themselves, see {@link primaryOnly}.
 */
export async function primaryOf(pool: PostgresPool, timeoutMs: number): Promise<PostgresPoolClient> {
  for (let left = replacements; ; left -= 1) {
    const client = await pool.connect();
    if (known.has(client)) return client;
    const deadline = deadlineIn(timeoutMs);
    // An error event without a listener would end the process.
    client.on?.('error', ignore);
    try {
      await deadline.race(assertWritable(client));
      known.add(client);
      return client;
    } catch (error) {
      client.release(true);
      if (left === 0 || error instanceof StorageUnavailableError) throw error;
    } finally {
      client.removeListener?.('error', ignore);
      deadline.clear();
    }
  }
}

async function assertWritable(client: PostgresClient): Promise<void> {
  // The same check as libpq's `target_session_attrs=read-write`. The setting is `on` in every transaction of
  // a standby.
  const { rows } = await client.query({ text: 'SHOW transaction_read_only', types: postgresTypes });
  if (Reflect.get(Object(rows[0]), 'transaction_read_only') !== 'off') throw takesNoWrites();
}
