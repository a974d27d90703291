import type { Storage } from '@ostiary/core/storage';
import { sqliteApiKeys } from './api-keys.ts';
import { sqliteAudit } from './audit.ts';
import { sqliteClientDocuments } from './client-documents.ts';
import { sqliteClients } from './clients.ts';
import { inMemory } from './connection.ts';
import { sqliteConsents } from './consents.ts';
import { Database } from './database.ts';
import { sqliteDeliveryClaims } from './delivery-claims.ts';
import { sqliteDeliveryLists } from './delivery-lists.ts';
import { sqliteEvents } from './events.ts';
import { sqliteGrants } from './grants.ts';
import { sqliteHourlyCounts } from './hourly-counts.ts';
import { sqliteIdempotency } from './idempotency.ts';
import { sqliteInbox } from './inbox.ts';
import { sqliteInteractions } from './interactions.ts';
import { assertNodeVersion } from './node-version.ts';
import { sqliteNotices } from './notices.ts';
import { parseOptions, type SqliteStorageOptions } from './options.ts';
import { sqlitePartners } from './partners.ts';
import { sqlitePayloads } from './payloads.ts';
import { sqlitePortal } from './portal.ts';
import { sqlitePurge } from './purge.ts';
import { sqlitePushedRequests } from './pushed-requests.ts';
import { sqliteQueue } from './queue.ts';
import { sqliteRedeliveries } from './redeliveries.ts';
import { sqliteRefreshTokens } from './refresh-tokens.ts';
import { sqliteRequestLog } from './request-log.ts';
import { sqliteSandbox } from './sandbox.ts';
import { sqliteSigningKeys } from './signing-keys.ts';
import { sqliteSurvey } from './survey.ts';
import { sqliteTransfers } from './transfers.ts';
import { sqliteUsedIds } from './used-ids.ts';
import { sqliteWaits } from './waits.ts';
import { sqliteWebhooks } from './webhooks.ts';

/**
 * Creates a storage and queue in one SQLite file. When a write call resolves, its changes are on the disk.
 *
 * @throws TypeError if an option is missing, invalid or unknown
 * @throws Error on a Node older than 22
 *
 * @example
 * ```ts
 * import { sqliteStorage } from '@ostiary/adapter-sqlite';
 *
 * const storage = sqliteStorage({ file: 'ostiary.db' });
 * ```
 */
export function sqliteStorage(options: SqliteStorageOptions): Storage {
  assertNodeVersion(process.versions.node);
  const { file } = parseOptions(options);
  return storageOn(new Database({ file }));
}

/**
 * Creates a storage on an SQLite database in memory, which ends when the storage is closed, or with this
 * process: for tests and for a first try. Every call creates another database. Other processes do not see it,
 * and a host application cannot publish in a transaction of its own.
 *
 * @throws Error on a Node older than 22
 *
 * @example
 * ```ts
 * import { memoryStorage } from '@ostiary/adapter-sqlite';
 *
 * const storage = memoryStorage();
 * await storage.open();
 * ```
 */
export function memoryStorage(): Storage {
  assertNodeVersion(process.versions.node);
  return storageOn(new Database({ file: inMemory }));
}

/** Creates the storage with all its stores, on a database that is not open yet. */
export function storageOn(database: Database): Storage {
  // Reads a page of the file, which `SELECT 1` would not.
  const ping = database.prepare((connection) =>
    connection.prepare('SELECT number FROM schema_migrations LIMIT 1'),
  );

  return {
    clients: sqliteClients(database),
    clientDocuments: sqliteClientDocuments(database),
    grants: { ...sqliteGrants(database), ...sqliteRefreshTokens(database) },
    consents: sqliteConsents(database),
    interactions: sqliteInteractions(database),
    interactionAnswers: sqlitePayloads(database, 'interaction_answers'),
    signingKeys: sqliteSigningKeys(database),
    partners: sqlitePartners(database),
    apiKeys: sqliteApiKeys(database),
    idempotency: sqliteIdempotency(database),
    transfers: sqliteTransfers(database),
    webhooks: sqliteWebhooks(database),
    events: sqliteEvents(database),
    deliveries: {
      ...sqliteDeliveryClaims(database),
      ...sqliteDeliveryLists(database),
      ...sqliteRedeliveries(database),
    },
    queue: sqliteQueue(database),
    audit: sqliteAudit(database),
    requestLog: sqliteRequestLog(database),
    inbox: sqliteInbox(database),
    hourlyCounts: sqliteHourlyCounts(database),
    notices: sqliteNotices(database),
    sandbox: sqliteSandbox(database),
    proofIds: sqliteUsedIds(database),
    pushedRequests: sqlitePushedRequests(database),
    portal: sqlitePortal(database),

    open: () => database.open(),

    async ping() {
      database.assertFileInPlace();
      await database.read(() => ping().get());
    },

    survey: sqliteSurvey(database),

    purge: sqlitePurge(database),

    boundWaits: sqliteWaits(database),

    close: () => database.close(),
  };
}
