import type { InteractionStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { postgresPayloads } from './payloads.ts';
import { prepared } from './statement.ts';

interface InteractionRow {
  readonly digest: Uint8Array;
  readonly payload: string;
  readonly expiresAt: number;
}

function statementsIn(schema: string) {
  return {
    count: prepared<{ now: number }, { readonly count: number }>(`
      SELECT count(*) AS count FROM ${schema}.interactions WHERE expires_at > :now
    `),

    replace: prepared<InteractionRow>(`
      UPDATE ${schema}.interactions SET payload = :payload, expires_at = :expiresAt WHERE digest = :digest
    `),

    extend: prepared<Omit<InteractionRow, 'payload'>>(`
      UPDATE ${schema}.interactions SET expires_at = :expiresAt
      WHERE digest = :digest AND expires_at < :expiresAt
    `),

    remove: prepared<{ digest: Uint8Array }>(`
      DELETE FROM ${schema}.interactions WHERE digest = :digest
    `),
  };
}

export function postgresInteractions(database: Database): InteractionStore {
  const sql = statementsIn(database.schema);

  return {
    ...postgresPayloads(database, 'interactions'),

    count: async (now) => (await database.get(sql.count, { now }))?.count ?? 0,

    replace: (digest, payload, expiresAt) => {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      return database.changes(sql.replace, row);
    },

    async extend(digest, expiresAt) {
      await database.changes(sql.extend, { digest: Buffer.from(digest), expiresAt });
    },

    remove: (digest) => database.changes(sql.remove, { digest: Buffer.from(digest) }),
  };
}
