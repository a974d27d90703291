import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrations.ts';
import { temporaryFolder } from './server.ts';

/** A database of a test's own, on disk. Give a file to open it once more. */
export async function testDatabase(
  file?: string,
): Promise<{ readonly database: Database; readonly file: string }> {
  const path = file ?? join(await temporaryFolder(), 'test.sqlite');
  const database = await openDatabase(path);
  onTestFinished(() => database.close());
  await migrate(database, 0);
  return { database, file: path };
}
