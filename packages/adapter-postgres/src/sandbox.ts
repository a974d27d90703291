import type { SandboxStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { postgresPayloads } from './payloads.ts';
import { prepared } from './statement.ts';

function statementsIn(schema: string) {
  return {
    take: prepared<{ digest: Uint8Array; now: number }, { payload: string }>(`
      DELETE FROM ${schema}.sandbox_records WHERE digest = :digest AND expires_at > :now RETURNING payload
    `),

    remove: prepared<{ digest: Uint8Array }>(`
      DELETE FROM ${schema}.sandbox_records WHERE digest = :digest
    `),
  };
}

export function postgresSandbox(database: Database): SandboxStore {
  const sql = statementsIn(database.schema);

  return {
    ...postgresPayloads(database, 'sandbox_records'),

    async take(digest, now) {
      const row = { digest: Buffer.from(digest), now };
      const taken = await database.change((connection) => sql.take.get(connection, row));
      return taken === undefined ? null : JSON.parse(taken.payload);
    },

    async remove(digest) {
      await database.changes(sql.remove, { digest: Buffer.from(digest) });
    },
  };
}
