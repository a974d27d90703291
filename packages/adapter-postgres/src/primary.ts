import { deadlineIn } from './deadline.ts';
import { StorageUnavailableError } from './errors.ts';
import { postgresTypes } from './parsers.ts';
import { ignore, type PostgresClient, type PostgresPool, type PostgresPoolClient } from './pool.ts';

/** Connections to servers that take writes. */
const known = new WeakSet<PostgresClient>();

/** How often another one is asked for in place of a connection that breaks before it was of any use. */
const replacements = 4;

/**
 * A connection of a pool to a server that takes writes. A standby answers what only reads, but it may be behind: a token that
 * was revoked would be valid there. Such a connection is closed before anything is read from it.
 *
 * Each connection is asked once. A server that takes writes becomes a standby only by a restart, which ends its connections;
 * where it stops taking writes otherwise, the next write says so (25006) and ends the connection.
 */
export async function primaryOf(pool: PostgresPool, patienceMs: number): Promise<PostgresPoolClient> {
  for (let left = replacements; ; left -= 1) {
    const client = await pool.connect();
    if (known.has(client)) return client;
    const deadline = deadlineIn(patienceMs);
    // Nobody else listens yet, and an error that nobody hears ends the process.
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
  // As the field's own `target_session_attrs=read-write`. It is `on` in every transaction of a standby.
  const { rows } = await client.query({ text: 'SHOW transaction_read_only', types: postgresTypes });
  if (Reflect.get(Object(rows[0]), 'transaction_read_only') === 'off') return;
  throw new StorageUnavailableError(
    'the PostgreSQL server takes no writes: it is a standby, or default_transaction_read_only is on',
  );
}
