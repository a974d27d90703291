import { storageContract } from '@ostiary/testing/contract';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrationTests } from '../../testing/test/adapters/migrations.ts';
import { Database } from '../src/database.ts';
import { createTables, postgresStorage } from '../src/index.ts';
import { type Functions, type Migration, migrate, readFunctions, readMigrations } from '../src/migrations.ts';
import { connectionOn } from '../src/statement.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

/** Makes a new schema, and functions that start processes of several versions on it. */
function newSchema() {
  const schema = server.nextSchema();
  async function query(sql: string) {
    const client = await server.pool.connect();
    try {
      await client.query(`SET search_path TO "${schema}"`);
      return (await client.query(sql)).rows;
    } finally {
      client.release(true);
    }
  }
  return {
    schema,
    query,
    /**
     * Starts a process of a version with the given migrations. By default the version has the shipped
     * functions if its first migration is the shipped one, and otherwise none.
     */
    async start(
      migrations: readonly Migration[],
      functions: Functions = migrations[0]?.name === '0001_initial.sql' ? readFunctions() : readFunctions([]),
    ) {
      const database = new Database({ schema, pool: server.pool, migrations, functions });
      await database.open();
      await database.close();
    },
    async applied() {
      return (await query('SELECT name FROM schema_migrations WHERE number > 0 ORDER BY number')).map(
        ({ name }) => name,
      );
    },
    storage: () => postgresStorage({ pool: server.pool, schema }),
  };
}

migrationTests('@ostiary/adapter-postgres', readMigrations, newSchema);

describe('functions', () => {
  const [first, second] = readMigrations([
    { name: '0001_numbers.sql', text: 'CREATE TABLE numbers (number integer)' },
    { name: '0002_nothing.sql', text: '' },
  ]);
  if (first === undefined || second === undefined) throw new Error('there are two');
  const returning = (number: number) =>
    readFunctions([
      {
        name: 'latest.sql',
        text: `CREATE OR REPLACE FUNCTION latest() RETURNS integer LANGUAGE sql AS 'SELECT ${number}'`,
      },
    ]);

  test('a later migration replaces them, and processes of the version before are refused', async () => {
    const { start, query } = newSchema();
    await start([first], returning(1));
    await start([first, second], returning(2));
    expect(await query('SELECT latest()')).toEqual([{ latest: 2 }]);
    await expect(start([first], returning(1))).rejects.toThrow('knows 1: upgrade');
    await start([first, second], returning(2));
    expect(await query('SELECT latest()')).toEqual([{ latest: 2 }]);
  });

  test('without a migration a change of them is refused', async () => {
    const { start, query } = newSchema();
    await start([first], returning(1));
    await expect(start([first], returning(2))).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringContaining('the functions of the database are not those of this version'),
    });
    expect(await query('SELECT latest()')).toEqual([{ latest: 1 }]);
  });
});

test('schemas of one database do not see each other', async () => {
  const [{ storage: one }, { storage: other }] = [await server.opened(), await server.opened()];
  await one.interactions.save(Buffer.alloc(32, 7), { of: 'one' }, 1000);
  expect(await other.interactions.find(Buffer.alloc(32, 7), 0)).toBeNull();
});

test('a role without the right to create tables can start once they exist, and otherwise gets an error that says so', async () => {
  const { schema, start } = newSchema();
  const { pool, url } = server;
  await pool.query("CREATE ROLE web LOGIN PASSWORD 'web'");
  const connectionString = url.replace('postgres:postgres@', 'web:web@');
  await expect(postgresStorage({ connectionString, schema }).open()).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    cause: { code: '42501' },
  });
  await start(readMigrations());
  await pool.query(`GRANT USAGE ON SCHEMA "${schema}" TO web`);
  await pool.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO web`);
  const create = async () => (await server.opened({ connectionString, schema })).storage;
  const everyCall = storageContract(create).find(({ name }) => name.includes('every call answers'));
  expect(everyCall).toBeDefined();
  await everyCall?.run();
});

test('a database that is not in UTF-8 is refused', async () => {
  await server.pool.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const connectionString = server.url.replace(/postgres$/, 'latin');
  await expect(postgresStorage({ connectionString }).open()).rejects.toThrow("ENCODING 'UTF8'");
});

test('a transaction in which a host creates the tables keeps its settings', async () => {
  const client = await server.pool.connect();
  onTestFinished(() => client.release(true));
  const settings = async () => {
    const { rows } = await client.query(
      `SELECT name, setting FROM pg_settings WHERE name ~ '^(search_path|(statement|lock|transaction)_timeout)$'`,
    );
    return rows;
  };
  await client.query(`BEGIN; SET LOCAL search_path TO public, "Other"; SET LOCAL statement_timeout = '1h'`);
  const before = await settings();
  for (const schema of [server.nextSchema(), server.nextSchema()]) {
    await createTables(client, { schema });
    await createTables(client, { schema });
  }
  expect(await settings()).toEqual(before);
  await client.query('ROLLBACK');
});

test.each([['statement_timeout'], ['transaction_timeout']])(
  'a migration may take longer than %s',
  async (name) => {
    const found = await server.pool.query('SELECT FROM pg_settings WHERE name = $1', [name]);
    // PostgreSQL 17 was the first with transaction_timeout.
    if (found.rowCount === 0) return;
    const client = await server.pool.connect();
    onTestFinished(() => client.release(true));
    const migrations = readMigrations([{ name: '0001_slow.sql', text: 'SELECT pg_sleep(1.2)' }]);
    // As `createTables` does, because the transactions of a storage have a `statement_timeout` of their own.
    await client.query(`BEGIN; SET LOCAL ${name} = 1000`);
    await migrate(connectionOn(client), server.nextSchema(), migrations, readFunctions([]));
    await client.query('ROLLBACK');
  },
);

// A new version of the operating system's locales changes the order of texts, and would make such an index wrong.
test('no index depends on the locale of the database', async () => {
  const { query, storage, schema } = newSchema();
  const opened = storage();
  await opened.open();
  await opened.close();
  const found = await query(`
    SELECT indexrelid::regclass::text AS index FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relnamespace = '"${schema}"'::regnamespace AND 'pg_catalog."default"'::regcollation = ANY (indcollation)
  `);
  expect(found).toEqual([]);
});
