import type { Storage } from '@ostiary/core/storage';
import { Pool } from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { testPostgres } from '../../../lab/support/postgres/postgres.ts';
import type { Place } from '../../testing/test/adapters/processes.ts';
import { type PostgresStorageOptions, postgresStorage } from '../src/index.ts';
import { allWaiting, holding, untilWaiting } from './locks.ts';
import { deletionOfAll } from './one-schema.ts';
import { watchedPool } from './watched-pool.ts';

export type TestServer = Awaited<ReturnType<typeof startServer>>;
export type Stage = ReturnType<typeof stageOf>;

const silent = () => undefined;

/** Adds functions for tests to a storage on its own schema. */
function stageOf(url: string, pool: Pool, schema: string, storage: Storage) {
  /**
   * Waits until this many calls of the storage wait for a lock, and returns the process ids of their
   * connections.
   */
  const waiting = (count: number) => untilWaiting(pool, schema, count);
  /**
   * Starts a transaction of another client, which ends when the test lets it end; `ostiary.` in its SQL
   * stands for the schema.
   */
  const held = (sql: string, values?: readonly unknown[]) =>
    holding(url, sql.replaceAll('ostiary.', `"${schema}".`), values);
  return {
    schema,
    storage,
    holding: held,
    waiting,
    /**
     * Stops a storage call in the middle with another client's lock, lets a second call reach the same lock,
     * and releases both.
     */
    async meeting<First, Second>(
      lock: string | readonly [sql: string, values: readonly unknown[]],
      first: () => Promise<First>,
      second: () => Promise<Second>,
      end: 'ROLLBACK' | 'COMMIT' = 'ROLLBACK',
    ): Promise<readonly [First, Second]> {
      const holder = await (typeof lock === 'string' ? held(lock) : held(...lock));
      const stopped = first();
      await allWaiting(pool, schema, [stopped]);
      const arriving = second();
      await allWaiting(pool, schema, [stopped, arriving]);
      await holder.query(end);
      return Promise.all([stopped, arriving]);
    },
  };
}

/**
 * Starts a database server before the tests of a file, and removes it afterwards.
 *
 * @param onlyRows - true if the tests only change rows, and no call outlives its test. Schemas without a name of their own
 * are then emptied for the next test, which is much faster than migrating a new one
 */
export function serverForTests({ onlyRows = false } = {}) {
  const nextSchema = schemaNames();
  const left: string[] = [];
  let server: TestServer;
  let pool: Pool;
  /** Returns the name of a schema, new or emptied, for a storage whose test has not named one. */
  async function schemaWithoutName(): Promise<string> {
    const schema = left.pop();
    if (schema === undefined) return nextSchema();
    await pool.query(await deletionOfAll(pool, schema));
    return schema;
  }
  const leave = (schema: string) => onlyRows && left.push(schema);
  beforeAll(async () => {
    server = await startServer();
    pool = hostPool(server.url);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  return {
    get url() {
      return server.url;
    },
    get port() {
      return server.port;
    },
    /** Pool that the test itself uses, not the storage. */
    get pool() {
      return pool;
    },
    nextSchema,
    start: () => server.start(),
    stop: () => server.stop(),
    /** Opens a storage that is closed after the test, by default on the pool of the test. */
    async opened({ schema: named, connectionString, ...options }: Partial<PostgresStorageOptions> = {}) {
      const schema = named ?? (await schemaWithoutName());
      const where = connectionString === undefined ? { pool } : { connectionString };
      const storage = postgresStorage({ schema, ...where, ...options });
      await storage.open();
      onTestFinished(async () => {
        await storage.close();
        if (named === undefined) leave(schema);
      });
      return stageOf(server.url, pool, schema, storage);
    },
    /** Opens a storage and records its SQL statements. */
    async watched({ schema: named }: { readonly schema?: string } = {}) {
      const schema = named ?? (await schemaWithoutName());
      const watched = watchedPool(server.url);
      const storage = postgresStorage({ pool: watched.pool, schema });
      await storage.open();
      onTestFinished(async () => {
        await storage.close();
        await watched.end();
        if (named === undefined) leave(schema);
      });
      watched.ran();
      return { ...stageOf(server.url, pool, schema, storage), watched };
    },
    /** Returns the location of the schema, to be passed to other processes. */
    placeOf: (schema: string): Place => ({
      module: new URL('../src/index.ts', import.meta.url).href,
      make: 'postgresStorage',
      options: { connectionString: server.url, schema },
    }),
  };
}

/** Starts a real PostgreSQL for the tests of a file, which can be stopped and started again. */
export async function startServer() {
  // Without fsync: in tests only processes crash, never the machine.
  const postgres = await testPostgres({
    settings: ['fsync=off', 'deadlock_timeout=50ms', 'max_connections=200'],
  });
  return {
    url: postgres.url(),
    port: postgres.port,
    /** True if `remove` removes the server with all data, so that a test need not remove its schema. */
    isTemporary: true,
    start: postgres.start,
    stop: postgres.stop,
    /** Stops the database server and removes its data. */
    remove: postgres.remove,
  };
}

/**
 * Database servers on which the tests run: one from npm, and the one that an environment variable names, if
 * any.
 */
export function testServers(): readonly { readonly name: string; start(): Promise<TestServer> }[] {
  const embedded = { name: 'a PostgreSQL from npm', start: startServer };
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined || url === '') return [embedded];
  const nothing = async () => undefined;
  const running = {
    url,
    port: Number(new URL(url).port),
    isTemporary: false,
    start: nothing,
    stop: nothing,
    remove: nothing,
  };
  return [embedded, { name: 'the PostgreSQL of TEST_DATABASE_URL', start: async () => running }];
}

/** Makes a pool as a host application has one, with a listener for errors of idle connections. */
export function hostPool(connectionString: string): Pool {
  return new Pool({ connectionString }).on('error', silent);
}

/** Makes a function that returns unique schema names. */
export function schemaNames(): () => string {
  const own = `test_${process.pid}_${Date.now().toString(36)}`;
  let last = 0;
  return () => {
    last += 1;
    return `${own}_${last}`;
  };
}
