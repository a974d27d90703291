import { patienceMs } from './database.ts';
import { type OwnPool, openPool, type PostgresPool } from './pool.ts';

/** Options of {@link postgresStorage}: where the database is, and in which of its schemas the tables are. */
export interface PostgresStorageOptions {
  /**
   * A pool of the host's, such as a `Pool` of `pg`. It is used beside whatever else uses it, and it is the host's
   * to end. Either this or `connectionString`.
   */
  readonly pool?: PostgresPool;
  /** `postgres://user:password@host:5432/database`; the storage opens a pool of ten connections and ends it. */
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
  readonly pool: PostgresPool | (() => OwnPool);
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
  if (typeof connectionString !== 'string' || !/^postgres(?:ql)?:\/\/./.test(connectionString)) {
    throw new TypeError(
      `${caller}: options.connectionString must begin with postgres:// or postgresql://${connectionString === '' ? ', and is empty; is its environment variable set?' : ''}`,
    );
  }
  return { pool: () => openPool(connectionString, patienceMs), schema };
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
