import Driver from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { migrationTests } from '../../testing/test/adapters/migrations.ts';
import { Database } from '../src/database.ts';
import { sqliteStorage } from '../src/index.ts';
import { type Migration, readMigrations } from '../src/migrations.ts';
import { start, temporaryFile } from './temporary.ts';
import { fakeTiming } from './timing.ts';

migrationTests('@ostiary/adapter-sqlite', readMigrations, () => {
  const file = temporaryFile();
  async function query(sql: string): Promise<unknown> {
    const driver = new Driver(file);
    try {
      const statement = driver.prepare(sql);
      return statement.reader ? statement.all() : statement.run();
    } finally {
      driver.close();
    }
  }
  return {
    query,
    start: (migrations: readonly Migration[]) => start(file, migrations),
    async applied() {
      const rows = await query('SELECT name FROM schema_migrations ORDER BY number');
      return (rows as { name: string }[]).map(({ name }) => name);
    },
    storage() {
      const storage = sqliteStorage({ file });
      onTestFinished(() => storage.close());
      return storage;
    },
  };
});

test('a start waits while another process migrates', async () => {
  const file = temporaryFile();
  const other = new Driver(file);
  other.pragma('journal_mode = WAL');
  other.exec('BEGIN IMMEDIATE');
  const timing = fakeTiming();
  timing.onSleep = () => {
    if (timing.elapsed() > 3000 && other.inTransaction) other.exec('COMMIT');
  };
  const database = new Database({ file, timing });
  await database.open();
  expect(timing.elapsed()).toBeGreaterThan(3000);
  await database.close();
  other.close();
});
