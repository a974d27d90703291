import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import type { Storage } from '@ostiary/core/storage';
import { testPostgres } from '../../support/postgres/postgres.ts';

/**
 * Makes empty storages, on a new SQLite file and on a new PostgreSQL server. `ends` releases their resources.
 */
export const emptyStorages = {
  async SQLite(ends: AsyncDisposableStack): Promise<Storage> {
    const folder = await mkdtemp(join(tmpdir(), 'ostiary-proof-'));
    ends.defer(() => rm(folder, { recursive: true, force: true }));
    return sqliteStorage({ file: join(folder, 'ostiary.db') });
  },
  async PostgreSQL(ends: AsyncDisposableStack): Promise<Storage> {
    const server = await testPostgres();
    ends.defer(() => server.remove());
    return postgresStorage({ connectionString: await server.newDatabase() });
  },
};
