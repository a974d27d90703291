import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { hostPool } from '../../../adapter-postgres/test/server.ts';
import { acme, sampleEvent } from '../../../testing/src/contract/partner-samples.ts';
import { resultOf } from '../../../testing/src/contract/webhook-samples.ts';
import { checkSqlite, type HostTables, type MoveProgress, type TableMove } from '../../src/move/index.ts';
import { knownMigrations } from '../../src/move/sqlite.ts';
import { ostiaryTables } from '../../src/move/tables.ts';
import { change, claimAll, filledFile, readAll } from './samples.ts';
import { check, move, nextSchema, opened, postgres, usePostgres } from './stage.ts';

usePostgres();

async function storageOn(schema: string) {
  const storage = postgresStorage({ pool: postgres.pool, schema });
  await storage.open();
  onTestFinished(() => storage.close());
  return storage;
}

/** Tables on PostgreSQL whose rows do not come from SQLite. */
const notMoved: readonly string[] = ['rate_limits', 'schema_migrations'];

test('every column of every table on PostgreSQL is moved, except what PostgreSQL computes', async () => {
  const schema = nextSchema();
  await storageOn(schema);
  const { rows } = await postgres.pool.query(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = $1 AND is_generated = 'NEVER' ORDER BY table_name, column_name`,
    [schema],
  );
  const there = rows
    .filter(({ table }) => !notMoved.includes(table))
    .map(({ table, column }) => `${table}.${column}`);
  const tables = await opened(await filledFile(), async (from) => ostiaryTables(from));
  const moved = tables.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => `${name}.${column}`),
  );
  expect(moved.toSorted()).toEqual(there.toSorted());
});

test('the schema that can be moved is the one that the SQLite adapter ships', () => {
  const folder = new URL('../../../adapter-sqlite/sql/', import.meta.url);
  const shipped = readdirSync(folder).toSorted();
  const checksumOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(new URL(name, folder)))
      .digest('hex');
  expect(knownMigrations).toEqual(shipped.map((name) => [name, checksumOf(name)]));
});

test('PostgreSQL returns the same data as SQLite', async () => {
  const file = await filledFile();
  const sqlite = sqliteStorage({ file });
  await sqlite.open();
  const before = await readAll(sqlite);
  await sqlite.close();
  const schema = nextSchema();
  const moved = await move(file, schema);
  expect(moved.filter(({ rows }) => rows === 0)).toEqual([]);
  expect(await readAll(await storageOn(schema))).toEqual(before);
});

test('claimed work stays claimed, and the results of its workers are accepted', async () => {
  const file = await filledFile();
  const schema = nextSchema();
  await move(file, schema);
  const storage = await storageOn(schema);
  // One delivery was claimed at 100, another is due at 40,000; leases last 30 seconds.
  const nothing = await storage.deliveries.claim({ ...claimAll, claimId: 'x', now: 30_099 });
  expect(nothing).toEqual([]);
  const again = await storage.deliveries.claim({ ...claimAll, claimId: 'third', now: 40_000 });
  // The claimed delivery's first attempt has no result; the other delivery's second attempt was cut off.
  expect(again.map(({ attempt, failures, dueAt }) => [attempt, failures, dueAt])).toEqual([
    [2, 0, 5],
    [3, 1, 40_000],
  ]);
  const results = again.map((delivery) => resultOf(delivery));
  const late = results.map((result) => ({ ...result, claimId: 'first' }));
  expect(await storage.deliveries.finish(late)).toEqual(again.map(() => false));
  expect(await storage.deliveries.finish(results)).toEqual(again.map(() => true));

  const job = { kinds: ['held'], claimId: 'd', leaseMs: 1, limit: 10 };
  expect(await storage.queue.claim({ ...job, now: 30_019 })).toEqual([]);
  expect(await storage.queue.complete({ id: 'held', claimId: 'c' })).toBe(true);
  const failed = { ...job, kinds: ['failed'] };
  expect(await storage.queue.claim({ ...failed, now: 49 })).toEqual([]);
  expect(await storage.queue.claim({ ...failed, now: 50 })).toMatchObject([{ id: 'failed', attempt: 2 }]);
});

test('sequences continue after the last number', async () => {
  const file = await filledFile();
  const schema = nextSchema();
  await move(file, schema);
  const storage = await storageOn(schema);
  const newest = async () =>
    (await storage.events.list({ ...acme, after: 0, limit: 100 })).events.map(({ sequence }) => sequence);
  const before = await newest();
  await storage.events.publish([sampleEvent('next')], { idempotency: null, now: 9 });
  expect(await newest()).toEqual([...before, before.length + 1]);
  expect(await storage.consents.remember({ sub: 'ben', clientId: 'shop', scopes: ['openid'], now: 9 })).toBe(
    true,
  );
});

test('tables of more than one batch arrive whole and in order', async () => {
  const file = await filledFile();
  change(
    file,
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
     INSERT INTO jobs (id, kind, payload, due_at) SELECT 'bulk ' || i, 'bulk', '{}', i FROM n`,
  );
  const schema = nextSchema();
  const told: number[] = [];
  const moved = await move(file, schema, {
    onProgress: ({ table, step, rows }) => void (table === 'jobs' && step === 'copying' && told.push(rows)),
  });
  const jobs = moved.find(({ table }) => table === 'jobs');
  expect(told).toEqual([500, 1000, jobs?.rows]);
  const { rows } = await postgres.pool.query(`SELECT count(*)::integer AS count FROM "${schema}".jobs`);
  expect(rows).toEqual([{ count: jobs?.rows }]);
});

test('a check reads the same counts and digests, and changes nothing', async () => {
  const file = await filledFile();
  const checked = await check(file);
  expect(await check(file)).toEqual(checked);
  expect(await move(file, nextSchema())).toEqual(checked);
});

test('nearly equal rows have different digests', async () => {
  const file = await filledFile();
  const digestOf = async (table: string) => (await check(file)).find((each) => each.table === table)?.digest;
  const before = await digestOf('transfers');
  change(file, "UPDATE transfers SET amount = amount - 1 WHERE id = 'tr_a'");
  expect(await digestOf('transfers')).not.toBe(before);
  change(file, "UPDATE transfers SET amount = amount + 1 WHERE id = 'tr_a'");
  expect(await digestOf('transfers')).toBe(before);
  change(file, "UPDATE transfers SET description = '' WHERE id = 'tr_a'");
  const empty = await digestOf('transfers');
  change(file, "UPDATE transfers SET description = NULL WHERE id = 'tr_a'");
  expect(await digestOf('transfers')).not.toBe(empty);
});

test('tables of the host are moved, too, in byte order with any collation of the target', async () => {
  const file = await filledFile();
  change(
    file,
    `CREATE TABLE app_notes (
       id TEXT PRIMARY KEY COLLATE NOCASE, number INTEGER NOT NULL, tags TEXT, is_open INTEGER NOT NULL
     ) STRICT`,
    `INSERT INTO app_notes VALUES ('b', 9007199254740993, '["x","y"]', 1), ('C', -2, NULL, 0), ('a', 0, '[]', 1),
       ('é', 1, '["a\\"b"]', 0)`,
  );
  const [schema, hostSchema] = [nextSchema(), nextSchema()];
  const notes: TableMove = {
    name: 'notes',
    source: 'app_notes',
    columns: { id: 'text', number: 'integer', tags: 'list', is_open: 'boolean' },
    key: ['id'],
  };
  const host: HostTables = {
    schema: hostSchema,
    tables: [notes],
    async create(client) {
      const text = `
        CREATE SCHEMA "${hostSchema}";
        CREATE TABLE "${hostSchema}".notes (
          id text COLLATE "und-x-icu" PRIMARY KEY, number bigint NOT NULL, tags text[], is_open boolean NOT NULL
        )`;
      await client.query({ text });
    },
  };
  const failing = {
    host,
    onProgress({ table }: MoveProgress) {
      if (table === `${hostSchema}.notes`) throw new Error('the disk is full');
    },
  };
  await expect(move(file, schema, failing)).rejects.toThrow('nothing was moved: the disk is full');
  const left = 'SELECT nspname FROM pg_namespace WHERE nspname = ANY ($1)';
  expect((await postgres.pool.query(left, [[schema, hostSchema]])).rows).toEqual([]);
  const checked = await opened(file, (from) => checkSqlite({ from, host }));
  expect(checked.at(-1)).toMatchObject({ table: `${hostSchema}.notes`, rows: 4 });
  expect(await move(file, schema, { host })).toEqual(checked);
  const { rows } = await postgres.pool.query(
    `SELECT id, number::text, tags, is_open FROM "${hostSchema}".notes ORDER BY id COLLATE "C"`,
  );
  expect(rows).toEqual([
    { id: 'C', number: '-2', tags: null, is_open: false },
    { id: 'a', number: '0', tags: [], is_open: true },
    { id: 'b', number: '9007199254740993', tags: ['x', 'y'], is_open: true },
    { id: 'é', number: '1', tags: ['a"b'], is_open: false },
  ]);
});

test('a move may take longer than the timeouts of the role', async () => {
  const url = new URL(postgres.url);
  url.searchParams.set('options', '-c transaction_timeout=1500 -c statement_timeout=1500');
  const pool = hostPool(url.href);
  onTestFinished(() => pool.end());
  const host: HostTables = {
    schema: 'public',
    tables: [],
    async create(client) {
      await client.query({ text: 'SELECT pg_sleep(1.6)' });
    },
  };
  await move(await filledFile(), nextSchema(), { pool, host });
});
