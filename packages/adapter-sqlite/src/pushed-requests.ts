import type { PushedRequestKey, PushedRequestStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

interface PushedRow extends PushedRequestKey {
  readonly payload: string;
  readonly expiresAt: number;
}

export function sqlitePushedRequests(database: Database): PushedRequestStore {
  const sql = database.prepare((connection) => ({
    count: connection.prepare<[{ now: number; limit: number }], { count: number }>(`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM pushed_requests WHERE expires_at > :now LIMIT :limit
      )
    `),

    save: connection.prepare<[PushedRow]>(`
      INSERT INTO pushed_requests (digest, client_id, payload, expires_at)
      VALUES (:digest, :clientId, :payload, :expiresAt)
    `),

    find: connection.prepare<
      [PushedRequestKey & { now: number }],
      { payload: string; usedAt: number | null }
    >(`
      SELECT payload, used_at AS usedAt FROM pushed_requests
      WHERE digest = :digest AND client_id = :clientId AND expires_at > :now
    `),

    use: connection.prepare<[PushedRequestKey & { now: number }]>(`
      UPDATE pushed_requests SET used_at = :now
      WHERE digest = :digest AND client_id = :clientId AND expires_at > :now AND used_at IS NULL
    `),

    replaceUsed: connection.prepare<[Omit<PushedRow, 'expiresAt'>]>(`
      UPDATE pushed_requests SET payload = :payload
      WHERE digest = :digest AND client_id = :clientId AND used_at IS NOT NULL
    `),
  }));

  return {
    count: (now, limit) => database.read(() => sql().count.get({ now, limit })?.count ?? 0),

    async save({ digest, clientId, payload, expiresAt }) {
      const row = { digest: Buffer.from(digest), clientId, payload: JSON.stringify(payload), expiresAt };
      await database.write(() => sql().save.run(row));
    },

    find: ({ digest, clientId }, now) =>
      database.find(
        () => sql().find.get({ digest, clientId, now }),
        ({ payload, usedAt }) => ({ payload: JSON.parse(payload), isUsed: usedAt !== null }),
      ),

    async use({ digest, clientId }, now) {
      const row = { digest: Buffer.from(digest), clientId, now };
      return database.write(() => sql().use.run(row).changes === 1);
    },

    async replaceUsed({ digest, clientId }, payload) {
      const row = { digest: Buffer.from(digest), clientId, payload: JSON.stringify(payload) };
      await database.write(() => sql().replaceUsed.run(row));
    },
  };
}
