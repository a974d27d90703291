import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readBooks } from '../../support/deployment/books.ts';
import { partner } from '../../support/deployment/mix.ts';
import { findPostgres, startSystemServer } from '../../support/postgres/system-postgres.ts';
import type { Source } from './backup.ts';

const run = promisify(execFile);

/**
 * Starts a server with this machine's PostgreSQL, which has `pg_dump`, for a deployment that is backed up;
 * returns `null` if PostgreSQL is not installed.
 */
export async function postgresSource(ends: AsyncDisposableStack): Promise<Source | null> {
  const tools = findPostgres();
  if (tools === null) return null;
  const server = await startSystemServer(tools);
  ends.defer(() => server.remove());
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-backup-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const target = server.url('rail');
  return {
    name: `backup with pg_dump (${tools})`,
    size: { webs: 1, workers: 1 },
    store: { DATABASE_URL: server.url('app') },
    async copy() {
      const file = join(folder, 'ostiary.dump');
      await run(join(tools, 'pg_dump'), [
        '--format=custom',
        `--file=${file}`,
        `--dbname=${server.url('app')}`,
      ]);
      const flags = ['--no-owner', '--exit-on-error', `--dbname=${target}`];
      await run(join(tools, 'pg_restore'), [...flags, file]);
      return { DATABASE_URL: target };
    },
    disorders: async () => (await readBooks(target, partner)).disorders,
  };
}
