import { migrate, readFunctions, readMigrations } from './migrations.ts';
import { assertSchemaName } from './options.ts';
import type { PostgresClient } from './pool.ts';
import { connectionOn } from './statement.ts';

/**
 * Creates the tables, or brings them up to date, in a transaction of the caller's at READ COMMITTED. Until it ends, whoever opens
 * a storage on this schema waits; when it is rolled back, nothing is there. A storage does this by itself when it opens: call it
 * where the tables and what is in them have to come together.
 *
 * @throws TypeError when `options.schema` is not the name of a schema
 *
 * @example
 * ```ts
 * import { createTables } from '@ostiary/adapter-postgres';
 * import { Client } from 'pg';
 *
 * const client = new Client('postgres://ostiary@localhost/ostiary');
 * await client.connect();
 * await client.query('BEGIN');
 * await createTables(client, { schema: 'ostiary' });
 * await client.query('COMMIT');
 * await client.end();
 * ```
 */
export async function createTables(
  client: PostgresClient,
  { schema = 'ostiary' }: { readonly schema?: string } = {},
): Promise<void> {
  assertSchemaName(schema, 'createTables');
  await migrate(connectionOn(client), schema, readMigrations(), readFunctions());
}
