import type { Storage } from '@ostiary/core/storage';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { pgbouncer, preparesStatements, startPgBouncer } from '../../../lab/support/postgres/pgbouncer.ts';
import { createDatabases } from '../../../lab/support/postgres/postgres-server.ts';
import type { PostgresClient, PostgresPool } from '../src/index.ts';
import { hostPool, serverForTests } from './server.ts';

if (pgbouncer === undefined)
  console.log('The tests of prepared statements behind PgBouncer are left out: there is no pgbouncer.');

const server = serverForTests();

const prepares = pgbouncer !== undefined && preparesStatements(pgbouncer);

/** Settings that turn prepared statements off, as PgBouncer 1.21 to 1.23 do by default. */
const withoutPreparing = prepares ? { max_prepared_statements: 0 } : {};

/** Wraps a pool, and records the names of prepared statements that are sent. */
function named(pool: PostgresPool): { readonly pool: PostgresPool; readonly names: string[] } {
  const names: string[] = [];
  return {
    names,
    pool: {
      async connect() {
        const client = await pool.connect();
        const query: PostgresClient['query'] = (statement) => {
          if (statement.name !== undefined) names.push(statement.name);
          return client.query(statement);
        };
        return { query, release: (destroy) => client.release(destroy) };
      },
    },
  };
}

/** Queues and completes jobs, one after the other. @returns the number of completed jobs */
async function work(storage: Storage, rounds: number, from = 0): Promise<number> {
  let completed = 0;
  for (let round = from; round < from + rounds; round += 1) {
    await storage.queue.enqueue([{ id: `job_${round}`, kind: 'kind', payload: {}, dueAt: 1 }]);
    const hold = { kinds: ['kind'], claimId: 'c', now: 2, leaseMs: 1_000, limit: 10 };
    for (const job of await storage.queue.claim(hold)) if (await storage.queue.complete(job)) completed += 1;
  }
  return completed;
}

test('frequent statements are prepared once for each connection, each with a unique name', async () => {
  const single = hostPool(server.url);
  single.options.max = 1;
  onTestFinished(() => single.end());
  const { pool, names } = named(single);
  const { storage } = await server.opened({ pool });
  names.length = 0;
  expect(await work(storage, 3)).toBe(3);
  const { rows } = await single.query(
    "SELECT name, statement FROM pg_prepared_statements WHERE name LIKE 'ostiary%' ORDER BY name",
  );
  const kept = [...new Set(names)].sort();
  expect(rows.map(({ name }) => name)).toEqual(kept);
  const used = /"\w+"\.(\w*jobs)\b/;
  expect(rows.map(({ statement }) => used.exec(statement)?.[1]).sort()).toEqual([
    'claim_jobs',
    'complete_jobs',
    'jobs',
  ]);
  expect(names.toSorted()).toEqual(kept.flatMap((name) => [name, name, name]));
});

describe.skipIf(pgbouncer === undefined)('behind PgBouncer', () => {
  beforeAll(() => createDatabases(server.url));

  /** Starts a PgBouncer with a single connection to PostgreSQL. @returns a pool of one connection to PgBouncer */
  async function pooled(settings: Readonly<Record<string, string | number>> = {}) {
    const pooler = await startPgBouncer(pgbouncer ?? '', server.port, { default_pool_size: 1, ...settings });
    onTestFinished(() => pooler.stop());
    return () => {
      const pool = hostPool(pooler.url);
      pool.options.max = 1;
      onTestFinished(() => pool.end());
      return named(pool);
    };
  }

  /**
   * Uses a storage whose first prepared statements fail, so that the storage continues without preparing.
   */
  async function goesOnWithout({ pool, names }: ReturnType<typeof named>, schema?: string): Promise<void> {
    const { storage } = await server.opened({ pool, ...(schema !== undefined && { schema }) });
    expect(await work(storage, 3)).toBe(3);
    // The first statement is prepared and forgotten, and so are claims until one is sent again with the same
    // name.
    const count = names.length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(6);
    expect(await work(storage, 3, 3)).toBe(3);
    expect(names).toHaveLength(count);
  }

  test('that loses prepared statements, the worker continues without them', async () => {
    const connect = await pooled({ server_reset_query_always: 1, ...withoutPreparing });
    await goesOnWithout(connect());
  });

  test('with prepared statements of other clients, the worker continues without them', async () => {
    const connect = await pooled(withoutPreparing);
    const schema = server.nextSchema();
    const { storage } = await server.opened({ pool: connect().pool, schema });
    expect(await work(storage, 3)).toBe(3);
    await goesOnWithout(connect(), schema);
  });

  test.skipIf(!prepares)('that keeps prepared statements, all processes prepare', async () => {
    const connect = await pooled();
    const schema = server.nextSchema();
    for (const { pool, names } of [connect(), connect()]) {
      const { storage } = await server.opened({ pool, schema });
      names.length = 0;
      expect(await work(storage, 3)).toBe(3);
      expect(names).toHaveLength(9);
    }
  });
});
