import type { ClientDocumentStore } from '@ostiary/core/storage';
import { clientOf, clientRowsOf, postgresClientInsertion } from './clients.ts';
import type { Database } from './database.ts';
import { type Connection, lookup, prepared, statement } from './statement.ts';
import { longTimeoutMs } from './timeouts.ts';

/**
 * Minimum time between two updates of a client's last use, in milliseconds, so that most authorization
 * requests write nothing.
 */
const usedAtStepMs = 3_600_000;

type Ids = { readonly ids: readonly string[] };

function statementsIn(schema: string) {
  const hasGrant = (clientId: string) =>
    `EXISTS (SELECT FROM ${schema}.grants WHERE grants.client_id = ${clientId})`;
  return {
    insert: statement<{ clientId: string; now: number }>(`
      INSERT INTO ${schema}.client_documents (client_id, used_at) VALUES (:clientId, :now)
    `),

    find: lookup<{ clientId: string }, unknown>(
      { clientId: 'text' },
      `SELECT 1 FROM ${schema}.clients WHERE client_id = :clientId`,
    ),

    count: statement<object, { rows: number }>(`
      SELECT count(*) AS rows FROM ${schema}.client_documents
    `),

    use: prepared<{ clientId: string; now: number }>(`
      UPDATE ${schema}.client_documents SET used_at = :now
      WHERE client_id = :clientId AND used_at <= :now::bigint - ${usedAtStepMs}
    `),

    list: statement<{ after: string | null; limit: number }, { record: string }>(`
      SELECT record FROM ${schema}.client_documents JOIN ${schema}.clients USING (client_id)
      WHERE :after::text IS NULL OR client_id > :after
      ORDER BY client_id LIMIT :limit
    `),

    listBack: statement<{ after: string | null; limit: number }, { record: string }>(`
      SELECT record FROM ${schema}.client_documents JOIN ${schema}.clients USING (client_id)
      WHERE :after::text IS NULL OR client_id < :after
      ORDER BY client_id DESC LIMIT :limit
    `),

    // Locks the clients and skips locked ones: a call that issues a grant or remembers a consent holds such a
    // lock until its commit.
    unused: statement<{ before: number; limit: number }, { clientId: string }>(`
      SELECT clients.client_id AS "clientId"
      FROM ${schema}.client_documents AS document JOIN ${schema}.clients USING (client_id)
      WHERE used_at < :before AND disabled_at IS NULL AND NOT ${hasGrant('document.client_id')}
      ORDER BY used_at, document.client_id LIMIT :limit
      FOR UPDATE OF clients SKIP LOCKED
    `),

    removeConsents: statement<Ids>(`
      DELETE FROM ${schema}.consents AS consent
      WHERE client_id = ANY (:ids) AND NOT ${hasGrant('consent.client_id')}
    `),

    // Removes clients; their documents and origins are removed with them.
    remove: statement<Ids>(`
      DELETE FROM ${schema}.clients WHERE client_id = ANY (:ids) AND NOT ${hasGrant('clients.client_id')}
    `),
  };
}

export function postgresClientDocuments(database: Database): ClientDocumentStore {
  const insertClient = postgresClientInsertion(database.schema);
  const sql = statementsIn(database.schema);

  /**
   * Removes clients with metadata documents that were last used before `before`, the least recently used
   * first. Keeps clients that have grants or are disabled. The clients are locked first: the later statements see grants that were committed before the lock.
   * Returns the number of removed clients.
   */
  async function removeUnused(connection: Connection, before: number, limit: number): Promise<number> {
    const unused = await sql.unused.all(connection, { before, limit });
    if (unused.length === 0) return 0;
    const ids = unused.map(({ clientId }) => clientId);
    await sql.removeConsents.run(connection, { ids });
    return sql.remove.run(connection, { ids });
  }

  return {
    async insert(client, { now, limit }) {
      const rows = clientRowsOf(client);
      const { clientId } = client;
      if ((await database.get(sql.find, { clientId })) !== null) return 'exists';
      return database.write(async (connection) => {
        const counted = await sql.count.get(connection, {});
        const excess = (counted?.rows ?? 0) + 1 - limit;
        if (excess > 0 && (await removeUnused(connection, Number.MAX_SAFE_INTEGER, excess)) < excess)
          return 'full';
        if (!(await insertClient(connection, rows))) return 'exists';
        await sql.insert.run(connection, { clientId, now });
        return 'stored';
      });
    },

    use: async (clientId, now) => void (await database.changes(sql.use, { clientId, now })),

    list: async ({ after, descending = false, limit }) =>
      (await database.all(descending ? sql.listBack : sql.list, { after, limit })).map(clientOf),

    count: async () => (await database.get(sql.count, {}))?.rows ?? 0,

    purge: (before, limit) =>
      database.write((connection) => removeUnused(connection, before, limit), longTimeoutMs),
  };
}
