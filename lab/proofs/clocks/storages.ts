import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { testPostgres } from '../../support/postgres/postgres.ts';
import type { simulate } from './simulate.ts';

type Storages = Pick<Parameters<typeof simulate>[0], 'source' | 'storageOf'>;

/** Makes storages on a new SQLite file, which is removed after the run. */
export function onSqlite(ends: AsyncDisposableStack): Storages {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-clocks-'));
  ends.defer(() => rmSync(folder, { recursive: true, force: true }));
  return { source: 'machine', storageOf: () => sqliteStorage({ file: join(folder, 'ostiary.db') }) };
}

/** Makes storages on a new PostgreSQL server, with a new database for each run. */
export async function onPostgres(ends: AsyncDisposableStack): Promise<() => Promise<Storages>> {
  const postgres = await testPostgres({ settings: ['fsync=off'] });
  ends.defer(() => postgres.remove());
  return async () => {
    const connectionString = await postgres.newDatabase();
    return { source: 'database', storageOf: () => postgresStorage({ connectionString }) };
  };
}
