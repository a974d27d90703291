import { storageContract } from '@ostiary/testing/contract';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type PgBouncer, pgbouncer, startPgBouncer } from '../../../lab/support/postgres/pgbouncer.ts';
import { type ProofServer, startServer } from '../../../lab/support/postgres/postgres-server.ts';
import { postgresStorage } from '../src/index.ts';
import { storagesInOneSchema } from './one-schema.ts';
import { hostPool, schemaNames } from './server.ts';

/**
 * Matches the names of contract cases that a pooler can break: transactions of several statements, concurrent
 * calls, and one case for each call. A single statement works in the same way on any connection.
 * contract.test.ts runs the whole contract, with the races for locks.
 */
const spansStatements =
  /^(?!the end of .* while )(?:storage|redemption|settlement|queue|delivery claims|leases of [a-z]+|the end of [a-z]+(?: partner)?|rate limits|time|transfer lists):/;

const nextSchema = schemaNames();
let server: ProofServer;

beforeAll(async () => {
  server = await startServer({ fsync: false, settings: ['deadlock_timeout=50ms'] });
});

afterAll(() => server.remove());

if (pgbouncer === undefined) console.log('The contract behind PgBouncer is left out: there is no pgbouncer.');

describe.skipIf(pgbouncer === undefined)('a storage whose transactions each get another connection', () => {
  let pooler: PgBouncer;
  let pool: Pool;
  let own: Pool;

  beforeAll(async () => {
    pooler = await startPgBouncer(pgbouncer ?? '', server.port, {
      ...{ default_pool_size: 8, min_pool_size: 8, server_round_robin: 1 },
      // PgBouncer runs DISCARD ALL after each transaction.
      server_reset_query_always: 1,
    });
    pool = hostPool(pooler.url);
    own = hostPool(server.url('app'));
  });

  afterAll(async () => {
    await pool?.end();
    await own?.end();
    await pooler?.stop();
  });

  const create = storagesInOneSchema(nextSchema(), () => ({ pool, own }));
  const cases = storageContract(create, { rateLimits: true, time: true });
  for (const { name, run } of cases.filter(({ name }) => spansStatements.test(name))) test(name, run);

  test('PgBouncer discards what a session keeps, and changes connections', async () => {
    const client = await pool.connect();
    onTestFinished(() => client.release());
    const backends = new Set<number>();
    const visit = async () => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      for (const { pid } of rows) backends.add(pid);
      return backends.size;
    };
    await expect.poll(visit, { timeout: 10_000 }).toBeGreaterThan(1);
    await client.query("SELECT set_config('work_mem', '77MB', false)");
    for (let query = 0; query < 8; query += 1) {
      const { rows } = await client.query("SELECT current_setting('work_mem') AS memory");
      expect(rows).not.toEqual([{ memory: '77MB' }]);
    }
  });
});

test('only prepared statements are left on a connection that is not reset', async () => {
  const single = hostPool(server.url('app'));
  onTestFinished(() => single.end());
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
});
