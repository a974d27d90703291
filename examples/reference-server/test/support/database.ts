import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrations.ts';
import { type Connection, openSqlite, type SqliteDatabase } from '../../src/database/sqlite.ts';
import { temporaryFolder } from './server.ts';

/** Opens a database on disk for one test; with `file`, opens an existing database. */
export async function testDatabase(
  file?: string,
): Promise<{ readonly database: SqliteDatabase; readonly file: string }> {
  const path = file ?? join(await temporaryFolder(), 'test.sqlite');
  const database = await openSqlite(path);
  onTestFinished(() => database.close());
  await migrate(database, 0);
  return { database, file: path };
}

/** Returns the connection with which a server on SQLite writes. */
export function connectionOf(database: Database): Connection {
  if (!('connection' in database)) throw new Error('this database is no SQLite file');
  return (database as SqliteDatabase).connection;
}
