import type { InteractionAnswerStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

export function sqliteInteractionAnswers(database: Database): InteractionAnswerStore {
  const sql = database.prepare((connection) => ({
    save: connection.prepare<[{ digest: Uint8Array; payload: string; expiresAt: number }]>(`
      INSERT INTO interaction_answers (digest, payload, expires_at) VALUES (:digest, :payload, :expiresAt)
      ON CONFLICT (digest) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at
    `),

    find: connection.prepare<[{ digest: Uint8Array; now: number }], { payload: string }>(`
      SELECT payload FROM interaction_answers WHERE digest = :digest AND expires_at > :now
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
  };
}
