import { eachHost, type OpenedPool, openPool } from './opened-pool.ts';
import type { PostgresPool } from './pool.ts';
import { callTimeoutMs } from './timeouts.ts';
import { assertTlsFiles } from './tls-files.ts';

/** Options of {@link postgresStorage}: where the database is, and in which of its schemas the tables are. */
export interface PostgresStorageOptions {
  /**
   * A pool of the host, such as a `Pool` of `pg`. The host may use it for other purposes, and ends it. Either
   * this or `connectionString`. A connection to a server that takes no writes is closed: use a pool of
   * `postgresPool` for several hosts.
   */
  readonly pool?: PostgresPool;
  /**
   * `postgres://user:password@host:5432/database`. The storage opens a pool of ten connections and ends it.
   * Several hosts, a primary and its standbys, are separated by commas: `host-1:5432,host-2:5432`.
   * Connections go to the one that takes writes, for any `target_session_attrs`.
   */
  readonly connectionString?: string;
  /**
   * The schema of the tables, created when it is missing: `[a-z_][a-z0-9_]{0,62}`.
   * @defaultValue 'ostiary'
   */
  readonly schema?: string;
}

const known: readonly string[] = ['pool', 'connectionString', 'schema'];

/**
 * Checks what the host passed; throws a `TypeError` that names the option, and never shows its value.
 */
export function parseOptions(options: unknown): {
  /** The host's pool, or how to open one of ours. */
  readonly pool: PostgresPool | (() => OpenedPool);
  readonly schema: string;
} {
  const caller = 'postgresStorage';
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${caller}: options must be an object such as { connectionString: "postgres://…" }`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new TypeError(`${caller}: unknown option ${JSON.stringify(name)}; there are ${known.join(', ')}`);
    }
  }
  const pool = 'pool' in options ? options.pool : undefined;
  const connectionString = 'connectionString' in options ? options.connectionString : undefined;
  const schema = 'schema' in options && options.schema !== undefined ? options.schema : 'ostiary';
  assertSchemaName(schema, caller);
  if ((pool === undefined) === (connectionString === undefined)) {
    const isUnset = pool === undefined && 'connectionString' in options;
    throw new TypeError(
      `${caller}: pass either options.pool or options.connectionString${isUnset ? ', which is undefined; is its environment variable set?' : ''}`,
    );
  }
  if (pool !== undefined) {
    if (isPool(pool)) return { pool, schema };
    throw new TypeError(`${caller}: options.pool must have a method connect(), like pg.Pool`);
  }
  assertConnectionString(connectionString, caller);
  return { pool: () => openPool(connectionString, callTimeoutMs), schema };
}

/**
 * Opens a pool for a host that uses one together with the storage. All its connections lead to the server that takes writes:
 * what only reads is never answered by a standby that is behind.
 *
 * @throws TypeError for an option that is wrong
 *
 * @example
 * ```ts
 * import { postgresPool, postgresStorage } from '@ostiary/adapter-postgres';
 *
 * const pool = postgresPool({ connectionString: 'postgres://ostiary@db-1:5432,db-2:5432/ostiary', max: 20 });
 * const storage = postgresStorage({ pool });
 * ```
 */
export function postgresPool({
  connectionString,
  max = 10,
}: {
  /** As for {@link PostgresStorageOptions}. */
  readonly connectionString: string;
  /** Connections at most. @defaultValue 10 */
  readonly max?: number;
}): OpenedPool {
  assertConnectionString(connectionString, 'postgresPool');
  return openPool(connectionString, callTimeoutMs, max);
}

function assertConnectionString(value: unknown, caller: string): asserts value is string {
  const what = `${caller}: options.connectionString`;
  if (typeof value !== 'string' || !/^postgres(?:ql)?:\/\/./.test(value)) {
    throw new TypeError(
      `${what} must begin with postgres:// or postgresql://${value === '' ? ', and is empty; is its environment variable set?' : ''}`,
    );
  }
  const hosts = eachHost(value);
  if (hosts === null) throw new TypeError(`${what} has a comma without a host beside it`);
  assertTlsFiles(hosts[0] ?? value, what);
}

/** @throws TypeError for what is no name of a schema, or one of the server's own */
export function assertSchemaName(schema: unknown, caller: string): asserts schema is string {
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_')) {
    throw new TypeError(`${caller}: options.schema must match [a-z_][a-z0-9_]{0,62} and not begin with pg_`);
  }
}

function isPool(value: unknown): value is PostgresPool {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'connect') === 'function';
}
