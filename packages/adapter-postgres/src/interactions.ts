import type { InteractionStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
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

    find: prepared<{ digest: Uint8Array; now: number }, { payload: string }>(`
      SELECT payload FROM ${schema}.interactions WHERE digest = :digest AND expires_at > :now
    `),

    remove: prepared<{ digest: Uint8Array }>(`
      DELETE FROM ${schema}.interactions WHERE digest = :digest
    `),
  };
}

export function postgresInteractions(database: Database): InteractionStore {
  const sql = statementsIn(database.schema);

  return {
    count: (now) =>
      database.read(async (connection) => (await sql.count.get(connection, { now }))?.count ?? 0),

    async save(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.change((connection) => sql.save.run(connection, row));
    },

    async replace(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      return database.change(async (connection) => (await sql.replace.run(connection, row)) === 1);
    },

    async extend(digest, expiresAt) {
      const row = { digest: Buffer.from(digest), expiresAt };
      await database.change((connection) => sql.extend.run(connection, row));
    },

    async find(digest, now) {
      const key = { digest: Buffer.from(digest), now };
      return database.read(async (connection) => {
        const row = await sql.find.get(connection, key);
        return row === undefined ? null : JSON.parse(row.payload);
      });
    },

    async remove(digest) {
      const key = { digest: Buffer.from(digest) };
      return database.change(async (connection) => (await sql.remove.run(connection, key)) === 1);
    },
  };
}
