import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { DatabaseUnavailable, openDatabase } from '../src/database/database.ts';
import { migrate } from '../src/database/migrations.ts';
import { createSessions } from '../src/sign-in/sessions.ts';
import { createDirectory } from '../src/users/directory.ts';
import { testDatabase } from './support/database.ts';
import { temporaryFolder } from './support/server.ts';

describe('the database', () => {
  test('is in WAL mode and waits for the disk', async () => {
    const { database } = await testDatabase();
    await database.write(() => database.connection.exec('CREATE TABLE t (x)'));
    expect(database.connection.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(database.connection.pragma('synchronous', { simple: true })).toBe(2);
  });

  test('migrates once, also when several start together', async () => {
    const { file } = await testDatabase();
    await Promise.all([testDatabase(file), testDatabase(file), testDatabase(file)]);
    const { database } = await testDatabase(file);
    expect(database.connection.prepare('SELECT number FROM app_migrations').all()).toHaveLength(3);
  });

  test('of a newer server is refused', async () => {
    const { database } = await testDatabase();
    database.connection.prepare("INSERT INTO app_migrations VALUES (99, 'future', '', 0)").run();
    await expect(migrate(database, 0)).rejects.toThrow('newer version');
  });

  test('waits for another writer without blocking the event loop', async () => {
    const { database, file } = await testDatabase();
    const other = new Sqlite(file);
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
      if (turns === 5) other.exec('COMMIT');
    }, 1);
    await database.write(() => database.connection.exec('CREATE TABLE t (x)'));
    clearInterval(turning);
    other.close();
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  test('gives up after two seconds and changes nothing', async () => {
    const { database, file } = await testDatabase();
    const other = new Sqlite(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(database.write(() => database.connection.exec('CREATE TABLE t (x)'))).rejects.toThrow(
      DatabaseUnavailable,
    );
    other.close();
    expect(database.connection.prepare("SELECT * FROM sqlite_schema WHERE name = 't'").all()).toEqual([]);
  });

  test('that cannot be opened, or was closed, says so in a way that Ostiary answers with 503', async () => {
    await expect(openDatabase(await temporaryFolder())).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
    });
    const { database } = await testDatabase();
    const sessions = createSessions(database, () => 0);
    const directory = createDirectory(database, () => 0);
    database.close();
    const unavailable = expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' });
    await expect(sessions.find('A'.repeat(43))).rejects.toEqual(unavailable);
    expect(() => directory.find('usr_1', new Set())).toThrow(unavailable);
    expect(() => database.ping()).toThrow(DatabaseUnavailable);
  });
});
