import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { samplePartner } from '../../src/contract/partner-samples.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A new database, and processes of several versions that use it. */
export interface MigrationStage {
  /** Opens and closes the database as a process with the given migrations would. */
  start(migrations: readonly Migration[]): Promise<void>;
  /** Names of the migrations that were applied. */
  applied(): Promise<unknown>;
  /** Runs an SQL statement outside of the storage; returns its rows. */
  query(sql: string): Promise<unknown>;
  /** Opens a storage with the current version of the schema, for the test. */
  storage(): Storage;
}

/** Defines the tests of migrations, which every adapter must pass. */
export function migrationTests(
  packageName: string,
  readMigrations: (
    files?: readonly { readonly name: string; readonly text: string }[],
  ) => readonly Migration[],
  newDatabase: () => MigrationStage,
): void {
  /** Makes the migrations of a package with the given files. */
  function shippedIn(files: { readonly [name: string]: string }): readonly Migration[] {
    return readMigrations(Object.entries(files).map(([name, text]) => ({ name, text })));
  }
  const first = { '0001_notes.sql': 'CREATE TABLE notes (\n  id INTEGER PRIMARY KEY\n);\n' };
  const second = { '0002_text.sql': "ALTER TABLE notes ADD COLUMN text TEXT NOT NULL DEFAULT 'none';" };
  const unavailable = { code: 'STORAGE_UNAVAILABLE' };

  test('the shipped migrations apply to a new database, once', async () => {
    const { start, applied } = newDatabase();
    const names = readMigrations().map(({ name }) => name);
    expect(names[0]).toBe('0001_initial.sql');
    for (const _time of ['first', 'second']) {
      await start(readMigrations());
      expect(await applied()).toEqual(names);
    }
  });

  test('what is missing is applied, and data stays', async () => {
    const { start, query } = newDatabase();
    await start(shippedIn(first));
    await query('INSERT INTO notes (id) VALUES (7)');
    await start(shippedIn({ ...first, ...second }));
    expect(await query('SELECT * FROM notes')).toEqual([{ id: 7, text: 'none' }]);
  });

  test('a migration that was changed after it was applied is refused', async () => {
    const { start, applied } = newDatabase();
    await start(shippedIn(first));
    const changed = { '0001_notes.sql': `${first['0001_notes.sql']} -- changed` };
    await expect(start(shippedIn({ ...changed, ...second }))).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('0001_notes.sql was changed'),
    });
    expect(await applied()).toEqual(['0001_notes.sql']);
  });

  test('other line ends are no change', async () => {
    const { start } = newDatabase();
    await start(shippedIn(first));
    await start(shippedIn({ '0001_notes.sql': first['0001_notes.sql'].replaceAll('\n', '\r\n') }));
  });

  test('a schema that is newer than the code is refused with a clear message', async () => {
    const { start } = newDatabase();
    await start(shippedIn({ ...first, ...second }));
    await expect(start(shippedIn(first))).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringMatching(/has schema 2 \(0002_text\.sql\).*knows 1: upgrade/),
    });
  });

  test('while a newer schema is applied, a running process continues, and a new one of its version is refused', async () => {
    const { start, storage } = newDatabase();
    const running = storage();
    await running.open();
    const shipped = readMigrations();
    const number = shipped.length + 1;
    const name = `${String(number).padStart(4, '0')}_notes.sql`;
    const sql = 'ALTER TABLE partners ADD COLUMN note TEXT; CREATE TABLE notes (id INTEGER PRIMARY KEY);';
    await start([...shipped, { number, name, sql, checksum: 'of the next version' }]);
    expect(await running.partners.insert(samplePartner())).toBe(true);
    expect(await running.partners.find('acme')).toEqual(samplePartner());
    await expect(storage().open()).rejects.toMatchObject({
      ...unavailable,
      message:
        `the database has schema ${number} (${name}) and this version of ${packageName} ` +
        `knows ${shipped.length}: upgrade the package, schemas never go back`,
    });
  });

  test('a migration that fails leaves the database as it was', async () => {
    const { start, applied, query } = newDatabase();
    await start(shippedIn(first));
    const broken = { '0003_broken.sql': 'CREATE TABLE half (id INTEGER); SELECT nonsense FROM nowhere;' };
    await expect(start(shippedIn({ ...first, ...second, ...broken }))).rejects.toMatchObject(unavailable);
    await expect(query('SELECT * FROM half')).rejects.toThrow();
    await expect(query('SELECT text FROM notes')).rejects.toThrow();
    expect(await applied()).toEqual(['0001_notes.sql']);
  });

  test('files must be numbered without gaps', () => {
    const wrong = [{ '0002_text.sql': '' }, { ...first, '0003_text.sql': '' }, { '1_notes.sql': '' }];
    for (const files of wrong) expect(() => shippedIn(files)).toThrow('without gaps');
  });
}
