import type { Storage } from '@ostiary/core/storage';
import type { Pool } from 'pg';
import { type PostgresPool, postgresStorage } from '../src/index.ts';

/**
 * Storages for cases that run one after the other: the schema is migrated for the first and emptied for the others, which
 * takes a small part of the time.
 *
 * @param pools - asked for each case: of the storage, and to empty the schema
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

/** One statement, after which the references between the tables hold again. Sequences begin at 1 again. */
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
