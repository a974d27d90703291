import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Storage } from '@ostiary/core/storage';
import { ConfigError, type ServerConfig } from '../config.ts';
import { DatabaseUnavailable } from './errors.ts';
import type { Database } from './queries.ts';

/** Both halves on one database: the tables of this server, and Ostiary's storage. */
export interface Databases {
  readonly database: Database;
  readonly storage: Storage;
}

async function prepareFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new ConfigError(`OSTIARY_DATA_DIR cannot be created (${code})`);
  }
}

async function onSqlite({ dataDir, databaseFile }: ServerConfig): Promise<Databases> {
  const { sqliteStorage } = await import('@ostiary/adapter-sqlite');
  const { openSqlite } = await import('./sqlite.ts');
  await prepareFolder(dataDir);
  try {
    const database = await openSqlite(databaseFile);
    return { database, storage: sqliteStorage({ file: databaseFile }) };
  } catch (error) {
    throw error instanceof DatabaseUnavailable ? new ConfigError(error.message, { cause: error }) : error;
  }
}

/** How long a database that was asleep may take to come up at the start, in milliseconds. */
const firstPatienceMs = 30_000;

/** Between two tries. */
const pauseMs = 250;

/** Asks until the database answers, and no longer than it makes sense. */
async function firstAnswer(
  ping: () => Promise<void>,
  mayComeUp: (error: unknown) => boolean,
  patienceMs: number,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ping();
    } catch (error) {
      if (!mayComeUp(error) || performance.now() + pauseMs >= deadline) throw error;
    }
    await delay(pauseMs);
  }
}

async function onPostgres(url: string, connections: number, patienceMs: number): Promise<Databases> {
  const { postgresStorage } = await import('@ostiary/adapter-postgres');
  const { openPostgres } = await import('./postgres.ts');
  const { mayComeUp, reasonOf } = await import('./postgres-errors.ts');
  const database = openPostgres(url, connections);
  try {
    await firstAnswer(database.ping, mayComeUp, patienceMs);
    return { database, storage: postgresStorage({ pool: database.pool }) };
  } catch (error) {
    await database.close();
    // No cause: what the driver says can hold parts of the URL.
    throw new ConfigError(`the database of DATABASE_URL cannot be used: ${reasonOf(error)}`);
  }
}

/**
 * Opens the database that the configuration names. What belongs to the other engine is not even loaded.
 *
 * @param patienceMs - how long a PostgreSQL that is not there yet is waited for
 * @throws {@link ConfigError}
 */
export function openDatabases(config: ServerConfig, patienceMs = firstPatienceMs): Promise<Databases> {
  const { databaseUrl, databasePool } = config;
  return databaseUrl === null ? onSqlite(config) : onPostgres(databaseUrl, databasePool, patienceMs);
}
