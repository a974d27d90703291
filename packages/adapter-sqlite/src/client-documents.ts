import type { ClientDocumentStore } from '@ostiary/core/storage';
import { clientOf, clientRowsOf, sqliteClientInsertion } from './clients.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

/**
 * Minimum time between two updates of a client's last use, in milliseconds, so that most authorization
 * requests write nothing.
 */
const usedAtStepMs = 3_600_000;

function statementsOn(connection: Connection) {
  return {
    insert: connection.prepare<[{ clientId: string; now: number }]>(`
      INSERT INTO client_documents (client_id, used_at) VALUES (:clientId, :now)
    `),

    count: connection.prepare<[], { rows: number }>('SELECT count(*) AS rows FROM client_documents'),

    exists: connection.prepare<[string], { 1: 1 }>('SELECT 1 FROM clients WHERE client_id = ?'),

    use: connection.prepare<[{ clientId: string; now: number }]>(`
      UPDATE client_documents SET used_at = :now
      WHERE client_id = :clientId AND used_at <= :now - ${usedAtStepMs}
    `),

    list: connection.prepare<[{ after: string | null; limit: number }], { record: string }>(`
      SELECT record FROM client_documents JOIN clients USING (client_id)
      WHERE :after IS NULL OR client_id > :after
      ORDER BY client_id LIMIT :limit
    `),

    listBack: connection.prepare<[{ after: string | null; limit: number }], { record: string }>(`
      SELECT record FROM client_documents JOIN clients USING (client_id)
      WHERE :after IS NULL OR client_id < :after
      ORDER BY client_id DESC LIMIT :limit
    `),

    unused: connection.prepare<[{ before: number; limit: number }], { clientId: string }>(`
      SELECT client_id AS clientId FROM client_documents JOIN clients USING (client_id)
      WHERE used_at < :before AND disabled_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM grants WHERE grants.client_id = client_documents.client_id)
      ORDER BY used_at, client_id LIMIT :limit
    `),

    removeConsents: connection.prepare<[string]>('DELETE FROM consents WHERE client_id = ?'),

    // Documents and origins are removed with their client.
    remove: connection.prepare<[string]>('DELETE FROM clients WHERE client_id = ?'),
  };
}

export function sqliteClientDocuments(database: Database): ClientDocumentStore {
  const insertClient = sqliteClientInsertion(database);
  const sql = database.prepare(statementsOn);

  /**
   * Removes clients with metadata documents that were last used before `before`, the least recently used
   * first. Keeps clients that have grants or are disabled. Returns the number of removed clients.
   */
  function removeUnused(before: number, limit: number): number {
    const unused = sql().unused.all({ before, limit });
    for (const { clientId } of unused) {
      sql().removeConsents.run(clientId);
      sql().remove.run(clientId);
    }
    return unused.length;
  }

  return {
    async insert(client, { now, limit }) {
      const rows = clientRowsOf(client);
      const { clientId } = client;
      return database.write(() => {
        if (sql().exists.get(clientId) !== undefined) return 'exists';
        const excess = (sql().count.get()?.rows ?? 0) + 1 - limit;
        if (excess > 0 && removeUnused(Number.MAX_SAFE_INTEGER, excess) < excess) return 'full';
        insertClient(rows);
        sql().insert.run({ clientId, now });
        return 'stored';
      });
    },

    async use(clientId, now) {
      await database.write(() => sql().use.run({ clientId, now }));
    },

    list: ({ after, descending = false, limit }) =>
      database.read(() => sql()[descending ? 'listBack' : 'list'].all({ after, limit }).map(clientOf)),

    count: () => database.read(() => sql().count.get()?.rows ?? 0),

    purge: (before, limit) => database.write(() => removeUnused(before, limit)),
  };
}
