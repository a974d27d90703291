import type { ResealedSecret, SealedSecret, SealedSecrets } from '@ostiary/core/storage';
import type { Database } from './database.ts';

/** Creates the operations on the encrypted secrets of one table. */
export function sqliteSealedSecrets(
  database: Database,
  { table, column }: { readonly table: string; readonly column: string },
): SealedSecrets {
  const sql = database.prepare((connection) => ({
    list: connection.prepare<[{ after: string; limit: number }], SealedSecret>(`
      SELECT id, ${column} AS sealed FROM ${table} WHERE id > :after ORDER BY id LIMIT :limit
    `),

    reseal: connection.prepare<[ResealedSecret]>(`
      UPDATE ${table} SET ${column} = :sealed WHERE id = :id AND ${column} = :before
    `),
  }));

  return {
    // The empty text sorts before all ids.
    listSealed: ({ after, limit }) => database.read(() => sql().list.all({ after: after ?? '', limit })),

    async reseal(secrets) {
      const rows = secrets.map((secret) => ({ ...secret }));
      return database.write(() => rows.reduce((count, row) => count + sql().reseal.run(row).changes, 0));
    },
  };
}
