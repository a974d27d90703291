import type { Storage } from '@ostiary/core/storage';
import { type Client, Pool } from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { testPostgres } from '../../../lab/support/postgres/postgres.ts';
import type { Place } from '../../testing/test/adapters/processes.ts';
import { type PostgresStorageOptions, postgresStorage } from '../src/index.ts';
import { holding, untilWaiting } from './locks.ts';
import { type WatchedPool, watchedPool } from './watched-pool.ts';

/** A real PostgreSQL of the test's own, that can be stopped and started again. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Whether it goes after the test with all its data. */
  readonly isTemporary: boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

/** A storage on a schema of its own. */
export interface Stage {
  readonly schema: string;
  readonly storage: Storage;
  /** Somebody else's transaction, which ends as the test says; `ostiary.` stands for the schema. */
  holding(sql: string, values?: readonly unknown[]): Promise<Client>;
  /** Waits until so many calls of the storage wait for a lock; answers their backends. */
  waiting(count: number): Promise<readonly number[]>;
  /** Stops a call in the middle by what somebody else holds, has another one arrive there, and lets both go on. */
  meeting<First, Second>(
    held: string | readonly [sql: string, values: readonly unknown[]],
    first: () => Promise<First>,
    second: () => Promise<Second>,
    end?: 'ROLLBACK' | 'COMMIT',
  ): Promise<readonly [First, Second]>;
}

/** The server of a test file: it runs as long as its tests do. */
export interface FileServer {
  readonly url: string;
  readonly port: number;
  /** For what a test does behind the storage's back. */
  readonly pool: Pool;
  nextSchema(): string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** An open storage that ends with the test, on the pool of the test unless it is told otherwise. */
  opened(options?: Partial<PostgresStorageOptions>): Promise<Stage>;
  /** The same, with a look at what it sends. */
  watched(options?: { readonly schema?: string }): Promise<Stage & { readonly watched: WatchedPool }>;
  /** Where other processes find a schema. */
  placeOf(schema: string): Place;
}

const silent = () => undefined;

/** Starts a server before the tests of a file, and removes it after them. */
export function serverForTests(): FileServer {
  const nextSchema = schemaNames();
  let server: TestServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await startServer();
    pool = hostPool(server.url);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  function stageOf(schema: string, storage: Storage): Stage {
    const stage: Stage = {
      schema,
      storage,
      holding: (sql, values) => holding(server.url, sql.replaceAll('ostiary.', `"${schema}".`), values),
      waiting: (count) => untilWaiting(pool, schema, count),
      async meeting(held, first, second, end = 'ROLLBACK') {
        const holder = await (typeof held === 'string' ? stage.holding(held) : stage.holding(...held));
        const stopped = first();
        await stage.waiting(1);
        const arriving = second();
        await stage.waiting(2);
        await holder.query(end);
        return Promise.all([stopped, arriving]);
      },
    };
    return stage;
  }
  return {
    get url() {
      return server.url;
    },
    get port() {
      return server.port;
    },
    get pool() {
      return pool;
    },
    nextSchema,
    start: () => server.start(),
    stop: () => server.stop(),
    async opened({ schema = nextSchema(), connectionString, ...options } = {}) {
      const where = connectionString === undefined ? { pool } : { connectionString };
      const storage = postgresStorage({ schema, ...where, ...options });
      await storage.open();
      onTestFinished(() => storage.close());
      return stageOf(schema, storage);
    },
    async watched({ schema = nextSchema() } = {}) {
      const watched = watchedPool(server.url);
      const storage = postgresStorage({ pool: watched.pool, schema });
      await storage.open();
      onTestFinished(async () => {
        await storage.close();
        await watched.end();
      });
      watched.ran();
      return { ...stageOf(schema, storage), watched };
    },
    placeOf: (schema) => ({
      module: new URL('../src/index.ts', import.meta.url).href,
      make: 'postgresStorage',
      options: { connectionString: server.url, schema },
    }),
  };
}

export async function startServer(): Promise<TestServer> {
  // Every kind of crash that a test makes is one of a process, never of the machine.
  const postgres = await testPostgres({
    settings: ['fsync=off', 'deadlock_timeout=50ms', 'max_connections=200'],
  });
  return {
    url: postgres.url(),
    port: postgres.port,
    isTemporary: true,
    start: postgres.start,
    stop: postgres.stop,
    remove: postgres.remove,
  };
}

/** The servers that the tests run on: one from npm, and the one that the environment names. */
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

/** A pool as a host has one: it hears of idle connections that the server ends. */
export function hostPool(connectionString: string): Pool {
  return new Pool({ connectionString }).on('error', silent);
}

/** Names for schemas that nobody else uses. */
export function schemaNames(): () => string {
  const own = `test_${process.pid}_${Date.now().toString(36)}`;
  let last = 0;
  return () => {
    last += 1;
    return `${own}_${last}`;
  };
}
