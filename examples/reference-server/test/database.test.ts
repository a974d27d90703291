import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { Queries } from '../src/database/database.ts';
import { DatabaseUnavailable } from '../src/database/database.ts';
import { migrate } from '../src/database/migrations.ts';
import { openSqlite } from '../src/database/sqlite.ts';
import { createSessions } from '../src/sign-in/sessions.ts';
import { createDirectory } from '../src/users/directory.ts';
import { testDatabase } from './support/database.ts';
import { temporaryFolder } from './support/server.ts';

describe('the database', () => {
  test('is in WAL mode and waits for the disk', async () => {
    const { database } = await testDatabase();
    await database.write((transaction) => transaction.script('CREATE TABLE t (x)'));
    expect(database.connection.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(database.connection.pragma('synchronous', { simple: true })).toBe(2);
  });

  test('migrates once, also when several start together', async () => {
    const { file } = await testDatabase();
    await Promise.all([testDatabase(file), testDatabase(file), testDatabase(file)]);
    const { database } = await testDatabase(file);
    expect(database.connection.prepare('SELECT number FROM app_migrations').all()).toHaveLength(4);
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
    await database.write((transaction) => transaction.script('CREATE TABLE t (x)'));
    clearInterval(turning);
    other.close();
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  test('reads only what is committed, while a write is under way', async () => {
    const { database } = await testDatabase();
    await database.write((transaction) => transaction.script('CREATE TABLE t (x)'));
    const count = (queries: Queries) => queries.get('SELECT count(*) AS n FROM t');
    const seen: unknown[] = [];
    const writing = database.write(async (transaction) => {
      await transaction.run('INSERT INTO t VALUES (:x)', { x: 1 });
      seen.push(await count(transaction), await count(database));
    });
    await writing;
    expect([...seen, await count(database)]).toEqual([{ n: 1 }, { n: 0 }, { n: 1 }]);
  });

  test('never mixes writes that run at the same time', async () => {
    const { database } = await testDatabase();
    await database.write((transaction) => transaction.script('CREATE TABLE t (x)'));
    const writes = Array.from({ length: 20 }, (_, x) =>
      database.write(async (transaction) => {
        await transaction.run('INSERT INTO t VALUES (:x)', { x });
        // As many turns of the microtask queue as a long transaction takes.
        for (let at = 0; at < 50; at += 1) await transaction.get('SELECT 1');
        if (x % 2 === 1) throw new Error('taken back');
      }),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    const rows = await database.all<{ x: number }>('SELECT x FROM t ORDER BY x');
    expect(rows.map(({ x }) => x)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
  });

  test('gives up after two seconds and changes nothing', async () => {
    const { database, file } = await testDatabase();
    const other = new Sqlite(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(database.write((transaction) => transaction.script('CREATE TABLE t (x)'))).rejects.toThrow(
      DatabaseUnavailable,
    );
    other.close();
    expect(database.connection.prepare("SELECT * FROM sqlite_schema WHERE name = 't'").all()).toEqual([]);
  });

  test('that cannot be opened, or was closed, says so in a way that Ostiary answers with 503', async () => {
    await expect(openSqlite(await temporaryFolder())).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
    });
    const { database } = await testDatabase();
    const sessions = createSessions(database, () => 0);
    const directory = createDirectory(database, () => 0);
    await database.close();
    const unavailable = expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' });
    await expect(sessions.find('A'.repeat(43))).rejects.toEqual(unavailable);
    await expect(directory.find('usr_1', new Set())).rejects.toEqual(unavailable);
    await expect(database.ping()).rejects.toThrow(DatabaseUnavailable);
  });
});
