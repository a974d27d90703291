import type { InteractionStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

export function sqliteInteractions(database: Database): InteractionStore {
  const sql = database.prepare((connection) => ({
    count: connection.prepare<[number], { count: number }>(`
      SELECT count(*) AS count FROM interactions WHERE expires_at > ?
    `),

    save: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      INSERT INTO interactions (digest, payload, expires_at) VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    replace: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      UPDATE interactions SET payload = :payload, expires_at = :expiresAt WHERE digest = :digest
    `),

    extend: connection.prepare<[{ digest: Uint8Array; expiresAt: number }]>(`
      UPDATE interactions SET expires_at = :expiresAt WHERE digest = :digest AND expires_at < :expiresAt
    `),

    find: connection.prepare<[{ digest: Uint8Array; now: number }], { payload: string }>(`
      SELECT payload FROM interactions WHERE digest = :digest AND expires_at > :now
    `),

    remove: connection.prepare<[Uint8Array]>(`
      DELETE FROM interactions WHERE digest = ?
    `),
  }));

  return {
    count: (now) => database.read(() => sql().count.get(now)?.count ?? 0),

    async save(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.write(() => sql().save.run(row));
    },

    async replace(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      return database.write(() => sql().replace.run(row).changes === 1);
    },

    async extend(digest, expiresAt) {
      const row = { digest: Buffer.from(digest), expiresAt };
      await database.write(() => sql().extend.run(row));
    },

    find: (digest, now) =>
      database.find(
        () => sql().find.get({ digest, now }),
        ({ payload }) => JSON.parse(payload),
      ),

    async remove(digest) {
      const key = Buffer.from(digest);
      return database.write(() => sql().remove.run(key).changes === 1);
    },
  };
}
