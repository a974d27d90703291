import type { Storage } from '@ostiary/core';
import { sqliteApiKeys } from './api-keys.ts';
import { sqliteClients } from './clients.ts';
import { sqliteConsents } from './consents.ts';
import { Database } from './database.ts';
import { sqliteGrants } from './grants.ts';
import { sqliteIdempotency } from './idempotency.ts';
import { sqliteInteractions } from './interactions.ts';
import { assertNodeVersion } from './node-version.ts';
import { parseOptions, type SqliteStorageOptions } from './options.ts';
import { sqlitePartners } from './partners.ts';
import { sqliteQueue } from './queue.ts';
import { sqliteSigningKeys } from './signing-keys.ts';
import { sqliteTransfers } from './transfers.ts';

/**
 * Storage and queue in one SQLite file. Every write that was answered is on the disk.
 *
 * @throws TypeError for an option that is missing, wrong or unknown
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

/** The ports on a database that is not open yet. */
export function storageOn(database: Database): Storage {
  const sql = database.prepare((connection) => ({
    // Reads a page of the file, unlike `SELECT 1`.
    ping: connection.prepare('SELECT number FROM schema_migrations LIMIT 1'),

    purgeInteractions: connection.prepare<[{ now: number; limit: number }]>(`
      DELETE FROM interactions WHERE digest IN (
        SELECT digest FROM interactions WHERE expires_at < :now ORDER BY expires_at LIMIT :limit
      )
    `),
    purgeTokens: connection.prepare<[{ before: number; limit: number }]>(`
      DELETE FROM access_tokens WHERE digest IN (
        SELECT digest FROM access_tokens WHERE expires_at < :before ORDER BY expires_at LIMIT :limit
      )
    `),
    purgeIdempotency: connection.prepare<[{ now: number; limit: number }]>(`
      DELETE FROM idempotency_records WHERE rowid IN (
        SELECT rowid FROM idempotency_records WHERE ends_at < :now ORDER BY ends_at LIMIT :limit
      )
    `),
    purgeGrants: connection.prepare<[{ before: number; limit: number }]>(`
      DELETE FROM grants WHERE id IN (
        SELECT id FROM grants
        WHERE ends_at < :before
          AND NOT EXISTS (SELECT 1 FROM access_tokens WHERE access_tokens.grant_id = grants.id)
        ORDER BY ends_at LIMIT :limit
      )
    `),
  }));

  return {
    clients: sqliteClients(database),
    grants: sqliteGrants(database),
    consents: sqliteConsents(database),
    interactions: sqliteInteractions(database),
    signingKeys: sqliteSigningKeys(database),
    partners: sqlitePartners(database),
    apiKeys: sqliteApiKeys(database),
    idempotency: sqliteIdempotency(database),
    transfers: sqliteTransfers(database),
    queue: sqliteQueue(database),

    open: () => database.open(),

    async ping() {
      await database.read(() => sql().ping.get());
    },

    purge: ({ now, before, limit }) =>
      database.write(() => ({
        interactions: sql().purgeInteractions.run({ now, limit }).changes,
        // Tokens go before grants, so that no token is ever left without its grant.
        tokens: sql().purgeTokens.run({ before, limit }).changes,
        grants: sql().purgeGrants.run({ before, limit }).changes,
        idempotency: sql().purgeIdempotency.run({ now, limit }).changes,
      })),

    close: () => database.close(),
  };
}
