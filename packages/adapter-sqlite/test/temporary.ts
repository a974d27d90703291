import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Place } from '../../testing/test/adapters/processes.ts';
import { Database } from '../src/database.ts';
import type { Migration } from '../src/migrations.ts';
import { storageOn } from '../src/storage.ts';
import { fakeTiming } from './timing.ts';

/** Returns a path for a database in a new folder that is removed after the test. */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'ostiary.db');
}

/** Opens a storage that is closed after the test, with ways to read and change its tables directly. */
export async function openDatabase(file = temporaryFile()) {
  const timing = fakeTiming();
  const database = new Database({ file, timing });
  const storage = storageOn(database);
  await storage.open();
  onTestFinished(() => storage.close());
  const all = (sql: string) => database.read((connection) => connection.prepare(sql).raw().all());
  const execute = (sql: string) => database.write((connection) => connection.exec(sql));
  return { file, timing, database, storage, all, execute };
}

/** Opens and closes a database file as a process with the given migrations would. */
export async function start(file: string, migrations: readonly Migration[]): Promise<void> {
  const database = new Database({ file, migrations });
  await database.open();
  await database.close();
}

/** Returns the path of the database file, to be passed to other processes. */
export function placeOf(file: string): Place {
  const module = new URL('../src/index.ts', import.meta.url).href;
  return { module, make: 'sqliteStorage', options: { file } };
}
