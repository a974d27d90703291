import type { SealedSecret, SealedSecrets } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

/** Creates the operations on the encrypted secrets of one table. */
export function postgresSealedSecrets(
  database: Database,
  { table, column }: { readonly table: string; readonly column: string },
): SealedSecrets {
  const rows = `${database.schema}.${table}`;
  const sql = {
    list: statement<{ after: string; limit: number }, SealedSecret>(`
      SELECT id, ${column} AS sealed FROM ${rows} WHERE id > :after ORDER BY id LIMIT :limit
    `),

    // Locks rows in the order of their ids to avoid deadlocks, and then compares their values again.
    reseal: statement<{
      readonly ids: readonly string[];
      readonly before: readonly string[];
      readonly sealed: readonly string[];
    }>(`
      WITH held AS MATERIALIZED (
        SELECT id FROM ${rows} WHERE id = ANY(:ids::text[]) ORDER BY id FOR NO KEY UPDATE
      )
      UPDATE ${rows} AS stored SET ${column} = given.sealed
      FROM held JOIN unnest(:ids::text[], :before::text[], :sealed::text[]) AS given (id, before, sealed)
        ON given.id = held.id
      WHERE stored.id = held.id AND stored.${column} = given.before
    `),
  };

  return {
    // The empty text sorts before all ids.
    listSealed: ({ after, limit }) => database.all(sql.list, { after: after ?? '', limit }),

    async reseal(secrets) {
      if (secrets.length === 0) return 0;
      const request = {
        ids: secrets.map(({ id }) => id),
        before: secrets.map(({ before }) => before),
        sealed: secrets.map(({ sealed }) => sealed),
      };
      return database.change((connection) => sql.reseal.run(connection, request));
    },
  };
}
