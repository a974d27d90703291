import type { InteractionStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { lookup, prepared } from './statement.ts';

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

    save: prepared<InteractionRow>(`
      INSERT INTO ${schema}.interactions (digest, payload, expires_at) VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    replace: prepared<InteractionRow>(`
      UPDATE ${schema}.interactions SET payload = :payload, expires_at = :expiresAt WHERE digest = :digest
    `),

    extend: prepared<Omit<InteractionRow, 'payload'>>(`
      UPDATE ${schema}.interactions SET expires_at = :expiresAt
      WHERE digest = :digest AND expires_at < :expiresAt
    `),

    find: lookup<{ digest: Uint8Array; now: number }, { payload: string }>(
      { digest: 'bytea', now: 'bigint' },
      `
      SELECT payload FROM ${schema}.interactions WHERE digest = :digest AND expires_at > :now
    `,
    ),

    remove: prepared<{ digest: Uint8Array }>(`
      DELETE FROM ${schema}.interactions WHERE digest = :digest
    `),
  };
}

export function postgresInteractions(database: Database): InteractionStore {
  const sql = statementsIn(database.schema);

  return {
    count: async (now) => (await database.get(sql.count, { now }))?.count ?? 0,

    async save(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.changes(sql.save, row);
    },

    replace: (digest, payload, expiresAt) => {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      return database.changes(sql.replace, row);
    },

    async extend(digest, expiresAt) {
      await database.changes(sql.extend, { digest: Buffer.from(digest), expiresAt });
    },

    async find(digest, now) {
      const row = await database.get(sql.find, { digest: Buffer.from(digest), now });
      return row && JSON.parse(row.payload);
    },

    remove: (digest) => database.changes(sql.remove, { digest: Buffer.from(digest) }),
  };
}
