import type { InteractionStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { sqlitePayloads } from './payloads.ts';

export function sqliteInteractions(database: Database): InteractionStore {
  const sql = database.prepare((connection) => ({
    count: connection.prepare<[number], { count: number }>(`
      SELECT count(*) AS count FROM interactions WHERE expires_at > ?
    `),

    replace: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      UPDATE interactions SET payload = :payload, expires_at = :expiresAt WHERE digest = :digest
    `),

    extend: connection.prepare<[{ digest: Uint8Array; expiresAt: number }]>(`
      UPDATE interactions SET expires_at = :expiresAt WHERE digest = :digest AND expires_at < :expiresAt
    `),

    remove: connection.prepare<[Uint8Array]>(`
      DELETE FROM interactions WHERE digest = ?
    `),
  }));

  return {
    ...sqlitePayloads(database, 'interactions'),

    count: (now) => database.read(() => sql().count.get(now)?.count ?? 0),

    async replace(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      return database.write(() => sql().replace.run(row).changes === 1);
    },

    async extend(digest, expiresAt) {
      const row = { digest: Buffer.from(digest), expiresAt };
      await database.write(() => sql().extend.run(row));
    },

    async remove(digest) {
      const key = Buffer.from(digest);
      return database.write(() => sql().remove.run(key).changes === 1);
    },
  };
}
