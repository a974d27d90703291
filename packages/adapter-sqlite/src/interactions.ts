import type { InteractionStore } from '@ostiary/core';
import type { Database } from './database.ts';

export function sqliteInteractions(database: Database): InteractionStore {
  const sql = database.prepare((connection) => ({
    save: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      INSERT INTO interactions (digest, payload, expires_at) VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    replace: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      UPDATE interactions SET payload = :payload, expires_at = :expiresAt WHERE digest = :digest
    `),

    find: connection.prepare<[{ digest: Uint8Array; now: number }], { payload: string }>(`
      SELECT payload FROM interactions WHERE digest = :digest AND expires_at > :now
    `),

    remove: connection.prepare<[Uint8Array]>(`
      DELETE FROM interactions WHERE digest = ?
    `),
  }));

  return {
    async save(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.write(() => sql().save.run(row));
    },

    async replace(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      return database.write(() => sql().replace.run(row).changes === 1);
    },

    find: (digest, now) =>
      database.read(() => {
        const row = sql().find.get({ digest, now });
        return row === undefined ? null : JSON.parse(row.payload);
      }),

    async remove(digest) {
      const key = Buffer.from(digest);
      return database.write(() => sql().remove.run(key).changes === 1);
    },
  };
}
