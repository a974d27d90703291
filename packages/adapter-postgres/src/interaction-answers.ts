import type { InteractionAnswerStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { lookup, prepared } from './statement.ts';

function statementsIn(schema: string) {
  return {
    save: prepared<{ digest: Uint8Array; payload: string; expiresAt: number }>(`
      INSERT INTO ${schema}.interaction_answers (digest, payload, expires_at)
      VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    find: lookup<{ digest: Uint8Array; now: number }, { payload: string }>(
      { digest: 'bytea', now: 'bigint' },
      `
      SELECT payload FROM ${schema}.interaction_answers WHERE digest = :digest AND expires_at > :now
    `,
    ),
  };
}

export function postgresInteractionAnswers(database: Database): InteractionAnswerStore {
  const sql = statementsIn(database.schema);

  return {
    async save(digest, payload, expiresAt) {
      const row = { digest: Buffer.from(digest), payload: JSON.stringify(payload), expiresAt };
      await database.changes(sql.save, row);
    },

    async find(digest, now) {
      const row = await database.get(sql.find, { digest: Buffer.from(digest), now });
      return row && JSON.parse(row.payload);
    },
  };
}
