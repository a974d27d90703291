import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestPostgres, testPostgres } from '../../../../lab/support/postgres/postgres.ts';
import { dedupeTable, type SqlDedupeOptions, type SqlRow, sqlDedupe } from '../../src/dedupe/index.ts';
import { dedupeContract } from './contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'ostiary-dedupe-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function sqliteQuery(database: Database.Database): SqlDedupeOptions['query'] {
  return (sql, values) => database.prepare(sql).all(...values) as SqlRow[];
}

function sqlite(): Database.Database {
  const database = new Database(join(folder, 'events.db'), { timeout: 5_000 });
  database.pragma('journal_mode = WAL');
  database.exec(dedupeTable());
  return database;
}

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres({ settings: ['fsync=off'] });
}, 60_000);
afterAll(() => postgres.remove());

const newPool = () =>
  new pg.Pool({ connectionString: postgres.url(), max: 25 })
    // Ignore errors: the server may stop while the last connections are still being closed.
    .on('error', () => undefined)
    .on('connect', (client) => client.on('error', () => undefined));

const postgresQuery = (pool: pg.Pool | pg.PoolClient): SqlDedupeOptions['query'] => {
  return async (sql, values) => (await pool.query(sql, [...values])).rows;
};

dedupeContract('in SQLite, from two connections', () => {
  const [one, other] = [sqlite(), sqlite()];
  return {
    store: sqlDedupe({ query: sqliteQuery(one), dialect: 'sqlite' }),
    elsewhere: sqlDedupe({ query: sqliteQuery(other), dialect: 'sqlite' }),
    close: () => [one, other].map((database) => database.close()),
  };
});

dedupeContract('in PostgreSQL, from two pools of 25 connections', async () => {
  const [one, other] = [newPool(), newPool()];
  await one.query('CREATE SCHEMA receiver');
  const table = 'receiver.events';
  await one.query(dedupeTable(table));
  return {
    store: sqlDedupe({ query: postgresQuery(one), dialect: 'postgres', table }),
    elsewhere: sqlDedupe({ query: postgresQuery(other), dialect: 'postgres', table }),
    close: () => Promise.all([one.end(), other.end()]),
  };
});

describe('a dedupe table', () => {
  it('forgets completed events of a certain age, and no others', async () => {
    const database = sqlite();
    const store = sqlDedupe({ query: sqliteQuery(database), dialect: 'sqlite' });
    const claim = (id: string) => store.claim({ id, token: 'a', now: 1_000, leaseMs: 10 });
    for (const id of ['evt_old', 'evt_new', 'evt_claimed']) await claim(id);
    await store.complete({ id: 'evt_old', token: 'a', now: 2_000 });
    await store.complete({ id: 'evt_new', token: 'a', now: 3_000 });
    expect(await store.purge(3_000)).toBe(1);
    expect(await claim('evt_old')).toBe('claimed');
    expect(await claim('evt_new')).toBe('completed');
    expect(await claim('evt_claimed')).toBe('busy');
    database.close();
  });

  it('can be used in the transaction in which the event is handled', async () => {
    const pool = newPool();
    await pool.query(dedupeTable());
    const outside = sqlDedupe({ query: postgresQuery(pool), dialect: 'postgres' });
    const inside = async (ending: 'COMMIT' | 'ROLLBACK') => {
      const client = await pool.connect();
      await client.query('BEGIN');
      const store = sqlDedupe({ query: postgresQuery(client), dialect: 'postgres' });
      await store.complete({ id: 'evt_tx', token: 'tx', now: 1 });
      await client.query(ending);
      client.release();
      return outside.claim({ id: 'evt_tx', token: ending, now: 2, leaseMs: 1 });
    };
    expect(await inside('ROLLBACK')).toBe('claimed');
    expect(await inside('COMMIT')).toBe('completed');
    await pool.end();
  });

  it('needs a plain name, and a known dialect', () => {
    const query = () => [];
    for (const table of ['', 'a b', 'events; DROP TABLE users', 'a.b.c', '"events"', '1st']) {
      expect(() => dedupeTable(table)).toThrow(TypeError);
      expect(() => sqlDedupe({ query, dialect: 'sqlite', table })).toThrow(TypeError);
    }
    expect(() => sqlDedupe({ query, dialect: 'mysql' as 'sqlite' })).toThrow(TypeError);
  });

  it('throws the error of a failing database', async () => {
    const query = () => Promise.reject(new Error('database gone'));
    const store = sqlDedupe({ query, dialect: 'postgres' });
    await expect(store.claim({ id: 'evt_1', token: 'a', now: 0, leaseMs: 1 })).rejects.toThrow(
      'database gone',
    );
  });
});
