import type { JsonObject } from '@ostiary/core/storage';
import type { Database } from './database.ts';

/** Table of JSON objects by a digest, each with a time at which it expires. */
type PayloadTable = 'interactions' | 'interaction_answers' | 'sandbox_records';

/** Creates the functions that store and find JSON objects in a table. */
export function sqlitePayloads(database: Database, table: PayloadTable) {
  const sql = database.prepare((connection) => ({
    save: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      INSERT INTO ${table} (digest, payload, expires_at) VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    find: connection.prepare<[{ digest: Uint8Array; now: number }], { payload: string }>(`
      SELECT payload FROM ${table} WHERE digest = :digest AND expires_at > :now
    `),
  }));

  return {
    async save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void> {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.write(() => sql().save.run(row));
    },

    find: (digest: Uint8Array, now: number): Promise<JsonObject | null> =>
      database.find(
        () => sql().find.get({ digest, now }),
        ({ payload }) => JSON.parse(payload),
      ),
  };
}
