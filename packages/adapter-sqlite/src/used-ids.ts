import type { UsedId, UsedIdStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

export function sqliteUsedIds(database: Database): UsedIdStore {
  const sql = database.prepare((connection) => ({
    // An expired id counts as new, whether its row was removed already or not.
    use: connection.prepare<[UsedId]>(`
      INSERT INTO used_ids (namespace, digest, expires_at) VALUES (:namespace, :digest, :expiresAt)
      ON CONFLICT (namespace, digest) DO UPDATE SET expires_at = excluded.expires_at
      WHERE used_ids.expires_at <= :now
    `),
  }));

  return {
    async use(id) {
      const row = { ...id, digest: Buffer.from(id.digest) };
      return database.write(() => sql().use.run(row).changes === 1);
    },
  };
}
