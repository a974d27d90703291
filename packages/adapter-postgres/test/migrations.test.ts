import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { storageContract } from '@ostiary/testing/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { postgresStorage } from '../src/index.ts';
import { type Migration, readMigrations } from '../src/migrations.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';

let server: TestServer;
let pool: Pool;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
  pool = hostPool(server.url);
});

afterAll(async () => {
  await pool.end();
  await server.remove();
});

/** A folder of migration files, as a package would ship it. */
function folderOf(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-migrations-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'sql'));
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, 'sql', name), sql);
  return pathToFileURL(`${join(folder, 'sql')}/`);
}

const first = { '0001_notes.sql': 'CREATE TABLE notes (id integer PRIMARY KEY);' };
const second = { '0002_text.sql': "ALTER TABLE notes ADD COLUMN text text NOT NULL DEFAULT 'none';" };

/** Opens a schema as a process with these migrations would; answers what is applied then. */
async function start(schema: string, migrations: readonly Migration[]): Promise<string[]> {
  const database = new Database({ schema, pool, migrations });
  await database.open();
  await database.close();
  return applied(schema);
}

async function applied(schema: string): Promise<string[]> {
  const { rows } = await pool.query(`SELECT name FROM "${schema}".schema_migrations ORDER BY number`);
  return rows.map(({ name }) => name);
}

test('the shipped migrations apply to a new schema, once', async () => {
  const schema = nextSchema();
  const names = readMigrations().map(({ name }) => name);
  expect(names[0]).toBe('0001_initial.sql');
  expect(await start(schema, readMigrations())).toEqual(names);
  expect(await start(schema, readMigrations())).toEqual(names);
});

test('what is missing is applied, and data stays', async () => {
  const schema = nextSchema();
  await start(schema, readMigrations(folderOf(first)));
  await pool.query(`INSERT INTO "${schema}".notes (id) VALUES (7)`);
  await start(schema, readMigrations(folderOf({ ...first, ...second })));
  const { rows } = await pool.query(`SELECT * FROM "${schema}".notes`);
  expect(rows).toEqual([{ id: 7, text: 'none' }]);
});

test('a schema of the first migration is brought up to date with its data', async () => {
  const schema = nextSchema();
  await start(schema, readMigrations().slice(0, 1));
  await pool.query(`INSERT INTO "${schema}".clients (client_id, version, record) VALUES ('shop', 1, $1)`, [
    JSON.stringify({ clientId: 'shop', secrets: [] }),
  ]);
  const storage = postgresStorage({ pool, schema });
  await storage.open();
  expect(await storage.clients.find('shop')).toEqual({
    clientId: 'shop',
    secrets: [],
    partnerDisabled: false,
  });
  const partner = { slug: 'acme', name: 'Acme', createdAt: 1, updatedAt: 1, disabledAt: null, version: 1 };
  expect(await storage.partners.insert(partner)).toBe(true);
  await storage.close();
  expect(await applied(schema)).toEqual(readMigrations().map(({ name }) => name));
});

test('a migration that was changed after it was applied is refused', async () => {
  const schema = nextSchema();
  await start(schema, readMigrations(folderOf(first)));
  const changed = { '0001_notes.sql': `${first['0001_notes.sql']} -- changed` };
  await expect(start(schema, readMigrations(folderOf({ ...changed, ...second })))).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: expect.stringContaining('0001_notes.sql was changed'),
  });
  expect(await applied(schema)).toEqual(['0001_notes.sql']);
});

test('other line ends are no change', async () => {
  const schema = nextSchema();
  const sql = 'CREATE TABLE notes (\n  id integer PRIMARY KEY\n);\n';
  await start(schema, readMigrations(folderOf({ '0001_notes.sql': sql })));
  await start(schema, readMigrations(folderOf({ '0001_notes.sql': sql.replaceAll('\n', '\r\n') })));
});

test('a schema that is newer than the code is refused with a clear message', async () => {
  const schema = nextSchema();
  await start(schema, readMigrations(folderOf({ ...first, ...second })));
  await expect(start(schema, readMigrations(folderOf(first)))).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: expect.stringMatching(/has schema 2 \(0002_text\.sql\).*knows 1: upgrade/),
  });
});

test('while a newer schema is applied, a process that runs already goes on, and a new one of its version is refused', async () => {
  const schema = nextSchema();
  const running = postgresStorage({ pool, schema });
  await running.open();
  await pool.query(`INSERT INTO "${schema}".schema_migrations VALUES (9999, '9999_future.sql', 'x')`);
  await running.ping();
  await expect(postgresStorage({ pool, schema }).open()).rejects.toThrow('upgrade the package');
  await running.close();
});

test('a migration that fails leaves the database as it was', async () => {
  const schema = nextSchema();
  await start(schema, readMigrations(folderOf(first)));
  const broken = { '0003_broken.sql': 'CREATE TABLE half (id integer); SELECT nonsense FROM nowhere;' };
  await expect(
    start(schema, readMigrations(folderOf({ ...first, ...second, ...broken }))),
  ).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', cause: { code: '42P01' } });
  const { rows } = await pool.query(
    'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name <> $2',
    [schema, 'schema_migrations'],
  );
  expect(rows).toEqual([{ name: 'id' }]);
  expect(await applied(schema)).toEqual(['0001_notes.sql']);
});

test('files must be numbered without gaps', () => {
  const wrong = [{ '0002_text.sql': '' }, { ...first, '0003_text.sql': '' }, { '1_notes.sql': '' }];
  for (const files of wrong) expect(() => readMigrations(folderOf(files))).toThrow('without gaps');
});

test('schemas of one database do not see each other', async () => {
  const [one, other] = [nextSchema(), nextSchema()].map((schema) => postgresStorage({ pool, schema }));
  await Promise.all([one?.open(), other?.open()]);
  await one?.interactions.save(Buffer.alloc(32, 7), { of: 'one' }, 1000);
  expect(await other?.interactions.find(Buffer.alloc(32, 7), 0)).toBeNull();
  await Promise.all([one?.close(), other?.close()]);
});

test('a role that may only use the tables can start once they are there, and is told when it cannot', async () => {
  const schema = nextSchema();
  await pool.query("CREATE ROLE web LOGIN PASSWORD 'web'");
  const connectionString = server.url.replace('postgres:postgres@', 'web:web@');
  await expect(postgresStorage({ connectionString, schema }).open()).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    cause: { code: '42501' },
  });
  await start(schema, readMigrations());
  await pool.query(`GRANT USAGE ON SCHEMA "${schema}" TO web`);
  await pool.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO web`);
  const create = async () => {
    const storage = postgresStorage({ connectionString, schema });
    await storage.open();
    return storage;
  };
  const everyCall = storageContract(create).find(({ name }) => name.includes('every call answers'));
  expect(everyCall).toBeDefined();
  await everyCall?.run();
});

test('a database that is not in UTF-8 is refused', async () => {
  await pool.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const connectionString = server.url.replace(/postgres$/, 'latin');
  await expect(postgresStorage({ connectionString }).open()).rejects.toThrow("ENCODING 'UTF8'");
});

test('twenty processes that start at once on a new schema all succeed, and migrate once', async () => {
  const schema = nextSchema();
  const ids = Array.from({ length: 20 }, (_, index) => `process ${index}`);
  const children = ids.map((id) =>
    fork(new URL('children/start.ts', import.meta.url), [server.url, schema, id], {
      execArgv: ['--conditions=source'],
    }),
  );
  const ended = children.map(async (child) => (await once(child, 'exit'))[0]);
  await Promise.all(children.map((child) => once(child, 'message')));
  for (const child of children) child.send('go');
  expect(await Promise.all(ended)).toEqual(ids.map(() => 0));

  const storage = postgresStorage({ pool, schema });
  await storage.open();
  const jobs = await storage.queue.claim({ kinds: ['start'], claimId: 'c', now: 0, leaseMs: 1, limit: 100 });
  expect(jobs.map((job) => job.id).toSorted()).toEqual(ids.toSorted());
  await storage.close();
  expect(await applied(schema)).toEqual(readMigrations().map(({ name }) => name));
});
