import { migrate, readFunctions, readMigrations } from './migrations.ts';
import { assertSchemaName } from './options.ts';
import type { PostgresClient } from './pool.ts';
import { connectionOn } from './statement.ts';

/**
 * Creates or updates the tables of the storage in a transaction of the caller at READ COMMITTED. Until the
 * transaction ends, other processes that open a storage on this schema wait. If it is rolled back, nothing is
 * created. A storage creates its tables by itself when it opens; call this only if the tables and their first
 * rows must commit together.
 *
 * @throws TypeError if `options.schema` is not a valid name for a schema
 * @throws StorageUnavailableError if this version of the package cannot use the server, its encoding or the
 * tables that exist already
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
