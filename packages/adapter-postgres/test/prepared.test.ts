import type { Storage } from '@ostiary/core/storage';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { PostgresClient, PostgresPool } from '../src/index.ts';
import { hostPool, serverForTests } from './server.ts';
import { TransactionPool } from './transaction-pool.ts';

const server = serverForTests();

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

/**
 * Checks that a storage behind a pooler goes on without prepared statements, after the first of them have
 * failed.
 */
async function goesOnWithout(pooler: PostgresPool): Promise<void> {
  const { pool, names } = named(pooler);
  const { storage } = await server.opened({ pool });
  expect(await work(storage, 3)).toBe(3);
  // The first statement is prepared and forgotten, and so are claims until one is sent again with the same
  // name.
  const count = names.length;
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(6);
  expect(await work(storage, 3, 3)).toBe(3);
  expect(names).toHaveLength(count);
}

test('behind a pooler that loses prepared statements, the worker continues without them', async () => {
  const pooler = await TransactionPool.open(server.url, 1);
  onTestFinished(() => pooler.end());
  await goesOnWithout(pooler);
});

test('behind a pooler with prepared statements of other clients, the worker continues without them', async () => {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  onTestFinished(() => client.end());
  // Simulates a pooler: each statement has another client, but all share one connection to the server.
  await goesOnWithout({
    connect: async () => ({
      query: ({ values, ...statement }) => {
        const { connection } = client as Client & { connection: { parsedStatements: object } };
        connection.parsedStatements = {};
        return client.query({ ...statement, values: [...(values ?? [])] });
      },
      release: () => undefined,
    }),
  });
});
