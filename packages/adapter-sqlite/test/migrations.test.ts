import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import Driver from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Database } from '../src/database.ts';
import { sqliteStorage } from '../src/index.ts';
import { type Migration, readMigrations } from '../src/migrations.ts';
import { temporaryFile } from './temporary.ts';
import { fakeTiming } from './timing.ts';

/** A folder of migration files, as a package would ship it. */
function folderOf(files: Record<string, string>): URL {
  const folder = `${dirname(temporaryFile())}/sql/`;
  mkdirSync(folder);
  for (const [name, sql] of Object.entries(files)) writeFileSync(`${folder}${name}`, sql);
  return pathToFileURL(folder);
}

const first = { '0001_notes.sql': 'CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT;' };
const second = { '0002_text.sql': "ALTER TABLE notes ADD COLUMN text TEXT NOT NULL DEFAULT 'none';" };

async function start(file: string, migrations: readonly Migration[]): Promise<unknown> {
  const database = new Database({ file, migrations });
  await database.open();
  try {
    return await database.read((connection) =>
      connection.prepare('SELECT name FROM schema_migrations ORDER BY number').pluck().all(),
    );
  } finally {
    await database.close();
  }
}

test('the shipped migrations apply to a new file, once', async () => {
  const file = temporaryFile();
  const names = readMigrations().map(({ name }) => name);
  expect(names[0]).toBe('0001_initial.sql');
  expect(await start(file, readMigrations())).toEqual(names);
  expect(await start(file, readMigrations())).toEqual(names);
});

test('what is missing is applied, and data stays', async () => {
  const file = temporaryFile();
  await start(file, readMigrations(folderOf(first)));
  const driver = new Driver(file);
  driver.exec('INSERT INTO notes (id) VALUES (7)');
  await start(file, readMigrations(folderOf({ ...first, ...second })));
  expect(driver.prepare('SELECT * FROM notes').all()).toEqual([{ id: 7, text: 'none' }]);
  driver.close();
});

test('a migration that was changed after it was applied is refused', async () => {
  const file = temporaryFile();
  await start(file, readMigrations(folderOf(first)));
  const changed = { '0001_notes.sql': `${first['0001_notes.sql']} -- changed` };
  await expect(start(file, readMigrations(folderOf({ ...changed, ...second })))).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: expect.stringContaining('0001_notes.sql was changed'),
  });
  expect(await start(file, readMigrations(folderOf(first)))).toEqual(['0001_notes.sql']);
});

test('other line ends are no change', async () => {
  const file = temporaryFile();
  const sql = 'CREATE TABLE notes (\n  id INTEGER PRIMARY KEY\n) STRICT;\n';
  await start(file, readMigrations(folderOf({ '0001_notes.sql': sql })));
  await start(file, readMigrations(folderOf({ '0001_notes.sql': sql.replaceAll('\n', '\r\n') })));
});

test('a schema that is newer than the code is refused with a clear message', async () => {
  const file = temporaryFile();
  await start(file, readMigrations(folderOf({ ...first, ...second })));
  await expect(start(file, readMigrations(folderOf(first)))).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: expect.stringMatching(/has schema 2 \(0002_text\.sql\).*knows 1: upgrade/),
  });
});

test('a newer schema is refused by the public storage too', async () => {
  const file = temporaryFile();
  await start(file, readMigrations());
  const driver = new Driver(file);
  driver.exec("INSERT INTO schema_migrations VALUES (9999, '9999_future.sql', 'x')");
  driver.close();
  await expect(sqliteStorage({ file }).open()).rejects.toThrow('upgrade the package');
});

test('while a newer schema is applied, a process that has the file open goes on, and a new one of its version is refused', async () => {
  const file = temporaryFile();
  const running = sqliteStorage({ file });
  await running.open();
  const partner = { slug: 'acme', name: 'Acme', createdAt: 1, updatedAt: 1, disabledAt: null, version: 1 };
  const shipped = readMigrations();
  const name = `${String(shipped.length + 1).padStart(4, '0')}_notes.sql`;
  const sql =
    'ALTER TABLE partners ADD COLUMN note TEXT; CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT;';
  const next: Migration = { number: shipped.length + 1, name, sql, checksum: 'of the next version' };
  await start(file, [...shipped, next]);
  expect(await running.partners.insert(partner)).toBe(true);
  expect(await running.partners.find('acme')).toEqual(partner);
  await expect(sqliteStorage({ file }).open()).rejects.toThrow(
    `the database has schema ${next.number} (${name}) and this version of @ostiary/adapter-sqlite knows ${shipped.length}`,
  );
  await running.close();
});

test('a migration that fails leaves the database as it was', async () => {
  const file = temporaryFile();
  await start(file, readMigrations(folderOf(first)));
  const broken = {
    '0003_broken.sql': 'CREATE TABLE half (id INTEGER) STRICT; SELECT nonsense FROM nowhere;',
  };
  await expect(
    start(file, readMigrations(folderOf({ ...first, ...second, ...broken }))),
  ).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
  });
  const driver = new Driver(file);
  expect(driver.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").all()).toEqual([]);
  expect(driver.prepare('SELECT * FROM notes').columns()).toHaveLength(1);
  driver.close();
  expect(await start(file, readMigrations(folderOf(first)))).toEqual(['0001_notes.sql']);
});

test('files must be numbered without gaps', () => {
  const wrong = [{ '0002_text.sql': '' }, { ...first, '0003_text.sql': '' }, { '1_notes.sql': '' }];
  for (const files of wrong) expect(() => readMigrations(folderOf(files))).toThrow('without gaps');
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
