import type { SandboxStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

export function sqliteSandbox(database: Database): SandboxStore {
  const sql = database.prepare((connection) => ({
    save: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      INSERT INTO sandbox_records (digest, payload, expires_at) VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    find: connection.prepare<[{ digest: Uint8Array; now: number }], { payload: string }>(`
      SELECT payload FROM sandbox_records WHERE digest = :digest AND expires_at > :now
    `),

    take: connection.prepare<[{ digest: Uint8Array; now: number }], { payload: string }>(`
      DELETE FROM sandbox_records WHERE digest = :digest AND expires_at > :now RETURNING payload
    `),

    remove: connection.prepare<[Uint8Array]>(`
      DELETE FROM sandbox_records WHERE digest = ?
    `),
  }));

  return {
    async save(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.write(() => sql().save.run(row));
    },

    find: (digest, now) =>
      database.find(
        () => sql().find.get({ digest, now }),
        ({ payload }) => JSON.parse(payload),
      ),

    async take(digest, now) {
      const row = { digest: Buffer.from(digest), now };
      const taken = await database.write(() => sql().take.get(row));
      return taken === undefined ? null : JSON.parse(taken.payload);
    },

    async remove(digest) {
      const key = Buffer.from(digest);
      await database.write(() => sql().remove.run(key));
    },
  };
}
