import type { JsonObject } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { lookup, prepared } from './statement.ts';

/** Table of JSON objects by a digest, each with a time at which it expires. */
type PayloadTable = 'interactions' | 'interaction_answers' | 'sandbox_records';

/** Creates the functions that store and find JSON objects in a table. */
export function postgresPayloads(database: Database, table: PayloadTable) {
  const name = `${database.schema}.${table}`;
  const sql = {
    save: prepared<{ digest: Uint8Array; payload: string; expiresAt: number }>(`
      INSERT INTO ${name} (digest, payload, expires_at) VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    find: lookup<{ digest: Uint8Array; now: number }, { payload: string }>(
      { digest: 'bytea', now: 'bigint' },
      `
      SELECT payload FROM ${name} WHERE digest = :digest AND expires_at > :now
    `,
    ),
  };

  return {
    async save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void> {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.changes(sql.save, row);
    },

    async find(digest: Uint8Array, now: number): Promise<JsonObject | null> {
      const row = await database.get(sql.find, { digest: Buffer.from(digest), now });
      return row && JSON.parse(row.payload);
    },
  };
}
