import { eachHost, type OpenedPool, openPool } from './opened-pool.ts';
import type { PostgresPool } from './pool.ts';
import { callTimeoutMs } from './timeouts.ts';
import { assertTlsFiles } from './tls-files.ts';

/** Options of {@link postgresStorage}: the database, and the schema of the tables. */
export interface PostgresStorageOptions {
  /**
   * Pool of the host, such as a `Pool` of `pg`, to pass instead of `connectionString`. The host may use it
   * for other purposes too, and must end it. A connection to a server that accepts no writes is closed; for
   * several hosts use a pool of `postgresPool`.
   */
  readonly pool?: PostgresPool;
  /**
   * Connection string, `postgres://user:password@host:5432/database`, to pass instead of `pool`. The storage
   * opens a pool of at most ten connections and ends it; a worker opens one more connection. Several hosts, a
   * primary and its standbys, are separated by commas: `host-1:5432,host-2:5432`. Connections always go to
   * the host that accepts writes; `target_session_attrs` is ignored.
   */
  readonly connectionString?: string;
  /**
   * Schema of the database that contains the tables, created if missing: `[a-z_][a-z0-9_]{0,62}`, and not
   * beginning with `pg_`.
   * @defaultValue 'ostiary'
   */
  readonly schema?: string;
}

const known: readonly string[] = ['pool', 'connectionString', 'schema'];

/**
 * Validates the options of the storage. Throws a `TypeError` that names the option. Of a connection string it
 * shows at most the path of a TLS file that cannot be used.
 */
export function parseOptions(options: unknown): {
  /** Pool of the host application, or a function that opens a pool of the storage. */
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
 * Opens a connection pool that a host application shares with the storage. All its connections lead to the
 * primary server when they are opened, so that reads do not return a standby's outdated data. Behind a pooler
 * a connection may lead to a standby later; see `primaryOnly`.
 *
 * @throws TypeError if an option is invalid
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
  /** Connection string of the database; see {@link PostgresStorageOptions}. */
  readonly connectionString: string;
  /** Maximum number of connections of the pool. @defaultValue 10 */
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

/** Checks the name of a schema. @throws TypeError if it is invalid or reserved for the server */
export function assertSchemaName(schema: unknown, caller: string): asserts schema is string {
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_')) {
    throw new TypeError(`${caller}: options.schema must match [a-z_][a-z0-9_]{0,62} and not begin with pg_`);
  }
}

function isPool(value: unknown): value is PostgresPool {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'connect') === 'function';
}
