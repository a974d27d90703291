import type { UsedId, UsedIdStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { prepared } from './statement.ts';

export function postgresUsedIds(database: Database): UsedIdStore {
  // An expired id counts as new, whether its row was removed already or not.
  const use = prepared<UsedId>(`
    INSERT INTO ${database.schema}.used_ids AS used (namespace, digest, expires_at)
    VALUES (:namespace, :digest, :expiresAt)
    ON CONFLICT (namespace, digest) DO UPDATE SET expires_at = excluded.expires_at
    WHERE used.expires_at <= :now
  `);

  return {
    use: (id) => database.changes(use, { ...id, digest: Buffer.from(id.digest) }),
  };
}
