import { storageContract } from '@ostiary/testing/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { storagesInOneSchema } from './one-schema.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';
import { TransactionPool } from './transaction-pool.ts';

/**
 * Matches the names of contract cases that a pooler can break: transactions of several statements, concurrent
 * calls, and one case for each call. A single statement works in the same way on any connection.
 * contract.test.ts runs the whole contract, with the races for locks.
 */
const spansStatements =
  /^(?!the end of .* while )(?:storage|redemption|settlement|queue|delivery claims|leases of [a-z]+|the end of [a-z]+(?: partner)?|rate limits|time|transfer lists):/;

describe('PostgreSQL storage on a pool that gives each transaction another connection', () => {
  let server: TestServer;
  let pool: TransactionPool;
  let own: Pool;
  const nextSchema = schemaNames();

  beforeAll(async () => {
    server = await startServer();
    pool = await TransactionPool.open(server.url, 8);
    own = hostPool(server.url);
  });

  afterAll(async () => {
    await pool.end();
    await own.end();
    await server.remove();
  });

  const create = storagesInOneSchema(nextSchema(), () => ({ pool, own }));
  const cases = storageContract(create, { rateLimits: true, time: true });
  for (const { name, run } of cases.filter(({ name }) => spansStatements.test(name))) test(name, run);

  test('only prepared statements are left on a connection that is not reset', async () => {
    const single = hostPool(server.url);
    single.options.max = 1;
    const state = async () => {
      const { rows } = await single.query(`
        SELECT
          (SELECT jsonb_object_agg(name, setting) FROM pg_settings
            -- Those of a language appear with its first function.
            WHERE name <> 'application_name' AND name NOT LIKE 'plpgsql.%') AS settings,
          (SELECT count(*) FROM pg_prepared_statements WHERE name !~ '^ostiary_[0-9a-f]{32}$') AS prepared,
          (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') AS locks,
          (SELECT count(*) FROM pg_class WHERE relpersistence = 't') AS temporary,
          (SELECT count(*) FROM pg_cursors) AS cursors,
          (SELECT count(*) FROM pg_listening_channels()) AS channels
      `);
      return rows;
    };
    const before = await state();
    const schema = nextSchema();
    for (const { run } of storageContract(async () => {
      const storage = postgresStorage({ pool: single, schema });
      await storage.open();
      return storage;
    }).slice(0, 3)) {
      await run();
    }
    expect(await state()).toEqual(before);
    expect(single.totalCount).toBe(1);
    await single.end();
  });

  test('the pool really discards what a session keeps, and changes connections', async () => {
    const client = await pool.connect();
    const backend = async () => (await client.query({ text: 'SELECT pg_backend_pid() AS pid' })).rows[0];
    await client.query({ text: "SELECT set_config('application_name', 'kept', false)" });
    const { rows } = await client.query({ text: "SELECT current_setting('application_name') AS name" });
    expect(rows).toEqual([{ name: '' }]);
    expect(await backend()).not.toEqual(await backend());
    client.release();
  });

  test.each(["SET application_name = 'kept'", 'SELECT pg_advisory_lock(1)'])(
    'the pool refuses %s, which only a session would keep',
    async (text) => {
      const client = await pool.connect();
      await expect(client.query({ text })).rejects.toThrow('keeps it in its session');
      client.release();
    },
  );
});
