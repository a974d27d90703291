import type { Storage } from '@ostiary/core/storage';
import { postgresApiKeys } from './api-keys.ts';
import { postgresAudit } from './audit.ts';
import { postgresClientDocuments } from './client-documents.ts';
import { postgresClients } from './clients.ts';
import { postgresConsents } from './consents.ts';
import { Database } from './database.ts';
import { postgresDeliveryClaims } from './delivery-claims.ts';
import { postgresDeliveryLists } from './delivery-lists.ts';
import { postgresDeliveryResults } from './delivery-results.ts';
import { StorageUnavailableError } from './errors.ts';
import { postgresEvents } from './events.ts';
import { postgresGrants } from './grants.ts';
import { postgresHourlyCounts } from './hourly-counts.ts';
import { postgresIdempotency } from './idempotency.ts';
import { postgresInbox } from './inbox.ts';
import { postgresInteractions } from './interactions.ts';
import { postgresNotices } from './notices.ts';
import { type PostgresStorageOptions, parseOptions } from './options.ts';
import { postgresPartners } from './partners.ts';
import { postgresPayloads } from './payloads.ts';
import { postgresPortal } from './portal.ts';
import { postgresPurge } from './purge.ts';
import { postgresPushedRequests } from './pushed-requests.ts';
import { postgresQueue } from './queue.ts';
import { postgresRateLimits } from './rate-limits.ts';
import { postgresRedeliveries } from './redeliveries.ts';
import { postgresRefreshTokens } from './refresh-tokens.ts';
import { postgresRequestLog } from './request-log.ts';
import { postgresSandbox } from './sandbox.ts';
import { postgresSigningKeys } from './signing-keys.ts';
import { statement } from './statement.ts';
import { postgresSurvey } from './survey.ts';
import { postgresTransfers } from './transfers.ts';
import { postgresUsedIds } from './used-ids.ts';
import { postgresWaits } from './waits.ts';
import { postgresWakeUps } from './wake-ups.ts';
import { postgresWebhooks } from './webhooks.ts';

/**
 * Creates a storage and queue on PostgreSQL 15 or later, for any number of processes. Safe behind a pooler
 * that gives each transaction another connection, such as PgBouncer in transaction mode.
 *
 * @throws TypeError if an option is missing, invalid or unknown
 *
 * @example
 * ```ts
 * import { postgresStorage } from '@ostiary/adapter-postgres';
 *
 * const storage = postgresStorage({ connectionString: 'postgres://ostiary@localhost/ostiary' });
 * ```
 */
export function postgresStorage(options: PostgresStorageOptions): Storage {
  return storageOn(new Database(parseOptions(options)));
}

/** Creates the storage with all its stores, on a database that is not open yet. */
export function storageOn(database: Database): Storage {
  const { schema } = database;
  const { close: stopListening, ...wakeUps } = postgresWakeUps(database);
  // The current time, not that of the transaction's start. A whole number, because `extra_float_digits` of a
  // role or a database may round a float8 to seconds or worse.
  const time = statement<object, { readonly now: number }>(
    'SELECT round(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now',
  );
  // Reads a table, because `SELECT 1` would succeed without any.
  const ping = statement<object>(`SELECT number FROM ${schema}.schema_migrations LIMIT 1`);

  return {
    clients: postgresClients(database),
    clientDocuments: postgresClientDocuments(database),
    grants: { ...postgresGrants(database), ...postgresRefreshTokens(database) },
    consents: postgresConsents(database),
    interactions: postgresInteractions(database),
    interactionAnswers: postgresPayloads(database, 'interaction_answers'),
    signingKeys: postgresSigningKeys(database),
    partners: postgresPartners(database),
    apiKeys: postgresApiKeys(database),
    idempotency: postgresIdempotency(database),
    transfers: postgresTransfers(database),
    webhooks: postgresWebhooks(database),
    events: postgresEvents(database),
    deliveries: {
      ...postgresDeliveryClaims(database),
      ...postgresDeliveryResults(database),
      ...postgresDeliveryLists(database),
      ...postgresRedeliveries(database),
    },
    queue: postgresQueue(database),
    audit: postgresAudit(database),
    requestLog: postgresRequestLog(database),
    inbox: postgresInbox(database),
    hourlyCounts: postgresHourlyCounts(database),
    notices: postgresNotices(database),
    sandbox: postgresSandbox(database),
    proofIds: postgresUsedIds(database),
    pushedRequests: postgresPushedRequests(database),
    portal: postgresPortal(database),
    rateLimits: postgresRateLimits(database),
    wakeUps,

    open: (onWait) => database.open(onWait),

    async ping() {
      await database.read((connection) => ping.get(connection, {}));
    },

    async time() {
      const row = await database.read((connection) => time.get(connection, {}));
      if (row === undefined) throw new StorageUnavailableError('the database did not return its time');
      return row.now;
    },

    survey: postgresSurvey(database),

    purge: postgresPurge(database),

    boundWaits: postgresWaits(database),

    close() {
      stopListening();
      return database.close();
    },
  };
}
