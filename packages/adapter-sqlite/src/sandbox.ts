import type { SandboxStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { sqlitePayloads } from './payloads.ts';

export function sqliteSandbox(database: Database): SandboxStore {
  const sql = database.prepare((connection) => ({
    take: connection.prepare<[{ digest: Uint8Array; now: number }], { payload: string }>(`
      DELETE FROM sandbox_records WHERE digest = :digest AND expires_at > :now RETURNING payload
    `),

    remove: connection.prepare<[Uint8Array]>(`
      DELETE FROM sandbox_records WHERE digest = ?
    `),
  }));

  return {
    ...sqlitePayloads(database, 'sandbox_records'),

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
