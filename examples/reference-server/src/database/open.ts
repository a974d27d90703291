import { mkdir } from 'node:fs/promises';
import type { Storage } from '@ostiary/core/storage';
import type { ServerConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { type Database, DatabaseUnavailable } from './database.ts';

/**
 * The opened database: the tables of this server, and the storage of Ostiary, which is not open yet.
 */
export interface Databases {
  readonly database: Database;
  readonly storage: Storage;
}

async function onSqlite({ dataDir, databaseFile }: ServerConfig): Promise<Databases> {
  const { sqliteStorage } = await import('@ostiary/adapter-sqlite');
  const { openSqlite } = await import('./sqlite.ts');
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    return { database: await openSqlite(databaseFile), storage: sqliteStorage({ file: databaseFile }) };
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw new ConfigError(error.message, { cause: error });
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
    throw new ConfigError(`OSTIARY_DATA_DIR cannot be created (${error.code})`);
  }
}

/** Opens the configured database. Loads only the driver that it needs. @throws ConfigError */
export async function openDatabases(config: ServerConfig): Promise<Databases> {
  const { databaseUrl, databasePool } = config;
  if (databaseUrl === null) return onSqlite(config);
  const { postgresStorage } = await import('@ostiary/adapter-postgres');
  const { openPostgres } = await import('./postgres.ts');
  try {
    const database = openPostgres(databaseUrl, databasePool);
    return { database, storage: postgresStorage({ pool: database.pool }) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ConfigError(error.message.replace(/^postgresPool: options\.connectionString/, 'DATABASE_URL'));
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its host and port',
  ENOTFOUND: 'its host name leads nowhere',
  EAI_AGAIN: 'its host name cannot be looked up',
  ETIMEDOUT: 'its host does not respond',
  ECONNRESET: 'its host ended the connection',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is of an authority that is not trusted (sslrootcert)',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an authority that is not trusted (sslrootcert)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an authority that is not trusted (sslrootcert)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that is not trusted (sslrootcert)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  '28P01': 'it refuses the password',
  '28000': 'it refuses the user',
  '3D000': 'there is no such database',
  '42501':
    'its user lacks a right; the first start and a start after an upgrade create schemas and tables, for which it needs GRANT CREATE ON DATABASE',
  '53300': 'it has too many connections',
  '57P03': 'it is starting or stopping',
};

/**
 * Describes in a few words why a PostgreSQL database cannot be used. The text contains no part of its URL,
 * which a driver's message may quote.
 */
export function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  if (!(inner instanceof Error)) return 'the driver refuses it';
  const code = 'code' in inner ? String(inner.code) : '';
  // The message is Ostiary's or this server's, not the driver's.
  if (code === 'STORAGE_UNAVAILABLE') return inner.message;
  // The driver gives this error no code.
  if (inner.message === 'The server does not support SSL connections')
    return 'it offers no TLS, which the URL requires (sslmode)';
  return reasons[code] ?? (code === '' ? 'the driver refuses it' : `error ${code}`);
}

/** Converts errors that an operator can correct to a message of one line. Returns other errors unchanged. */
export function forOperators(error: unknown, { databaseUrl }: ServerConfig): unknown {
  if (!(error instanceof Error) || error instanceof ConfigError) return error;
  const code = 'code' in error ? error.code : null;
  // 42501: a role with more privileges can create the tables; see docs/cluster.md.
  if (databaseUrl !== null && (code === 'STORAGE_UNAVAILABLE' || code === '42501'))
    return new ConfigError(`the database of DATABASE_URL cannot be used: ${reasonOf(error)}`);
  // A wrong setting, a wrong sealing key, or a broken disk: a stack trace would not help.
  const isPlain = error instanceof TypeError || code === 'STORAGE_UNAVAILABLE';
  return isPlain ? new ConfigError(error.message, { cause: error }) : error;
}
