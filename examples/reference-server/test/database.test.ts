import { statSync } from 'node:fs';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import Sqlite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DatabaseUnavailable } from '../src/database/database.ts';
import { openSqlite } from '../src/database/sqlite.ts';
import { testDatabase } from './support/database.ts';
import { temporaryFolder } from './support/server.ts';

describe('the SQLite file', () => {
  test('is in WAL mode and waits for the disk', async () => {
    const { database } = await testDatabase();
    await database.write((transaction) => transaction.script('CREATE TABLE t (x)'));
    expect(database.connection.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(database.connection.pragma('synchronous', { simple: true })).toBe(2);
  });

  test('returns the space of removed rows to the file system', async () => {
    const { database, file } = await testDatabase();
    const storage = sqliteStorage({ file });
    onTestFinished(() => storage.close());
    await storage.open();
    const megabytes = Array.from({ length: 12 }, () => '(zeroblob(1000000))').join();
    await database.write((transaction) =>
      transaction.script(`CREATE TABLE t (x); INSERT INTO t VALUES ${megabytes}; DELETE FROM t`),
    );
    const size = () => {
      database.connection.pragma('wal_checkpoint(TRUNCATE)');
      return statSync(file).size;
    };
    expect(size()).toBeGreaterThan(12_000_000);
    await storage.purge({ now: 0, before: 0, eventsBefore: 0, limit: 1 });
    // Ostiary keeps four megabytes for new rows.
    expect(size()).toBeLessThan(6_000_000);
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

  test('never mixes writes that run at the same time', async () => {
    const { database } = await testDatabase();
    await database.write((transaction) => transaction.script('CREATE TABLE t (x)'));
    const writes = Array.from({ length: 20 }, (_, x) =>
      database.write(async (transaction) => {
        await transaction.run('INSERT INTO t VALUES (:x)', { x });
        // Takes as many turns of the microtask queue as a long transaction.
        for (let at = 0; at < 50; at += 1) await transaction.get('SELECT 1');
        if (x % 2 === 1) throw new Error('taken back');
      }),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    const rows = await database.all<{ x: number }>('SELECT x FROM t ORDER BY x');
    expect(rows.map(({ x }) => x)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
  });

  test('fails after two seconds while another process writes, and changes nothing', async () => {
    const { database, file } = await testDatabase();
    const other = new Sqlite(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(database.write((transaction) => transaction.script('CREATE TABLE t (x)'))).rejects.toThrow(
      DatabaseUnavailable,
    );
    other.close();
    expect(database.connection.prepare("SELECT * FROM sqlite_schema WHERE name = 't'").all()).toEqual([]);
  });

  test('that cannot be opened says so in a way that Ostiary answers with 503', async () => {
    const opening = openSqlite(await temporaryFolder());
    await expect(opening).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  });
});
