import { Pool } from 'pg';
import { testPostgres } from '../../../lab/support/postgres/postgres.ts';

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

const silent = () => undefined;

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
