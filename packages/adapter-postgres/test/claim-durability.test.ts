import { Client, Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type TestPostgres, testPostgres } from '../../../lab/support/postgres/postgres.ts';
import { claim, published, registered, resultOf } from '../../testing/src/contract/webhook-samples.ts';
import { postgresStorage } from '../src/index.ts';
import { schemaNames } from './server.ts';

let postgres: TestPostgres;
let schema: string;
const nextSchema = schemaNames();

beforeAll(async () => {
  // The server writes unawaited changes only every ten seconds, and a crash before that loses them. Nothing
  // but the test makes changes.
  postgres = await testPostgres({
    settings: ['wal_writer_delay=10s', 'autovacuum=off', 'wal_level=minimal', 'max_wal_senders=0'],
  });
});
afterAll(() => postgres.remove());
beforeEach(() => {
  schema = nextSchema();
});

/** Opens a storage on a single connection. */
async function openStorage() {
  const pool = new Pool({ connectionString: postgres.url(), max: 1 }).on('error', () => undefined);
  const storage = postgresStorage({ pool, schema });
  await storage.open();
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
  });
  return { storage, pool };
}

/** Opens a storage on a single connection, with an endpoint and two due deliveries. */
async function filledStorage() {
  const opened = await openStorage();
  await registered(opened.storage, '1');
  for (const label of ['1', '2']) await published(opened.storage, label);
  return opened;
}

/** Makes a function that checks whether the database server has flushed everything to its disk. */
async function diskOf(server: TestPostgres) {
  // Connect before the test, because a new connection may write something itself.
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  onTestFinished(() => client.end());
  return async (): Promise<boolean> => {
    const { rows } = await client.query(
      'SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() AS yes',
    );
    return rows[0].yes;
  };
}

test('a claim does not wait for the disk, and what it led to does', async () => {
  const isWritten = await diskOf(postgres);
  const { storage, pool } = await filledStorage();
  // The server sometimes writes log records that no commit waits for.
  await expect.poll(isWritten).toBe(true);
  const claimed = await claim(storage, 'c');
  expect(claimed).toHaveLength(2);
  expect(await isWritten()).toBe(false);
  // The setting must not stay on the connection.
  expect((await pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);

  expect(await storage.deliveries.finish(claimed.map((one) => resultOf(one)))).toEqual([true, true]);
  expect(await isWritten()).toBe(true);
});

test('after a crash that undid a claim the deliveries are claimed again, and late results are refused', async () => {
  const { storage } = await filledStorage();
  const lost = await claim(storage, 'lost');
  expect(lost).toHaveLength(2);
  expect(await claim(storage, 'none'), 'held until the crash').toEqual([]);
  await postgres.stop('immediate');
  await postgres.start();

  const { storage: other } = await openStorage();
  const claimed = await claim(other, 'next');
  expect(claimed.map(({ id, attempt }) => [id, attempt])).toEqual(lost.map(({ id }) => [id, 1]));
  expect(await storage.deliveries.finish(lost.map((one) => resultOf(one)))).toEqual([false, false]);
  expect(await other.deliveries.finish(claimed.map((one) => resultOf(one)))).toEqual([true, true]);
  expect(await claim(storage, 'last')).toEqual([]);
});
