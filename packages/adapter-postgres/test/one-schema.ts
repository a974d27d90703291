import type { Storage } from '@ostiary/core/storage';
import type { Pool } from 'pg';
import { type PostgresPool, postgresStorage } from '../src/index.ts';

/**
 * Makes storages for test cases that run one after the other on one schema. The schema is migrated for the
 * first case and emptied for the others, which is much faster.
 *
 * @param pools - returns for each case the storage's pool, and the one that empties the schema
 */
export function storagesInOneSchema(
  schema: string,
  pools: () => { readonly pool: PostgresPool; readonly own: Pool },
): () => Promise<Storage> {
  let emptying: string | null = null;
  return async () => {
    const { pool, own } = pools();
    const storage = postgresStorage({ pool, schema });
    await storage.open();
    if (emptying !== null) await own.query(emptying);
    emptying ??= await deletionOfAll(own, schema);
    return storage;
  };
}

/**
 * Returns an SQL statement that deletes all rows and restarts the sequences at 1, so that foreign keys hold
 * afterwards.
 */
export async function deletionOfAll(own: Pool, schema: string): Promise<string> {
  const { rows } = await own.query<{ relation: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS relation FROM pg_tables
     WHERE schemaname = $1 AND tablename <> 'schema_migrations'`,
    [schema],
  );
  const deletions = rows.map(({ relation }, index) => `emptied_${index} AS (DELETE FROM ${relation})`);
  const { rows: sequences } = await own.query<{ reset: string }>(
    `SELECT format('setval(''%I.%I'', 1, false)', schemaname, sequencename) AS reset FROM pg_sequences
     WHERE schemaname = $1`,
    [schema],
  );
  return `WITH ${deletions.join(', ')} SELECT ${sequences.map(({ reset }) => reset).join(', ')}`;
}
