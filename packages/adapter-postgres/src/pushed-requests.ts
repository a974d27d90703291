import type { PushedRequestKey, PushedRequestStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { lookup, prepared } from './statement.ts';

interface PushedRow extends PushedRequestKey {
  readonly payload: string;
  readonly expiresAt: number;
}

function statementsIn(schema: string) {
  return {
    // Ordered, so that PostgreSQL walks along the index: a plan made without statistics would read all rows.
    count: prepared<{ now: number; limit: number }, { readonly count: number }>(`
      SELECT count(*) AS count FROM (
        SELECT FROM ${schema}.pushed_requests WHERE expires_at > :now ORDER BY expires_at LIMIT :limit
      ) AS unended
    `),

    save: prepared<PushedRow>(`
      INSERT INTO ${schema}.pushed_requests (digest, client_id, payload, expires_at)
      VALUES (:digest, :clientId, :payload, :expiresAt)
    `),

    find: lookup<PushedRequestKey & { now: number }, { payload: string; usedAt: number | null }>(
      { digest: 'bytea', clientId: 'text', now: 'bigint' },
      `
      SELECT payload, used_at AS "usedAt" FROM ${schema}.pushed_requests
      WHERE digest = :digest AND client_id = :clientId AND expires_at > :now
    `,
    ),

    use: prepared<PushedRequestKey & { now: number }>(`
      UPDATE ${schema}.pushed_requests SET used_at = :now
      WHERE digest = :digest AND client_id = :clientId AND expires_at > :now AND used_at IS NULL
    `),

    replaceUsed: prepared<Omit<PushedRow, 'expiresAt'>>(`
      UPDATE ${schema}.pushed_requests SET payload = :payload
      WHERE digest = :digest AND client_id = :clientId AND used_at IS NOT NULL
    `),
  };
}

export function postgresPushedRequests(database: Database): PushedRequestStore {
  const sql = statementsIn(database.schema);

  return {
    count: async (now, limit) => (await database.get(sql.count, { now, limit }))?.count ?? 0,

    async save({ digest, clientId, payload, expiresAt }) {
      const row = { digest: Buffer.from(digest), clientId, payload: JSON.stringify(payload), expiresAt };
      await database.changes(sql.save, row);
    },

    async find({ digest, clientId }, now) {
      const row = await database.get(sql.find, { digest: Buffer.from(digest), clientId, now });
      return row && { payload: JSON.parse(row.payload), isUsed: row.usedAt !== null };
    },

    use: ({ digest, clientId }, now) =>
      database.changes(sql.use, { digest: Buffer.from(digest), clientId, now }),

    async replaceUsed({ digest, clientId }, payload) {
      const row = { digest: Buffer.from(digest), clientId, payload: JSON.stringify(payload) };
      await database.changes(sql.replaceUsed, row);
    },
  };
}
