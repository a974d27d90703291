import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TestPostgres, testPostgres } from '../../../lab/support/postgres/postgres.ts';
import { published, registered } from '../../testing/src/contract/webhook-samples.ts';
import { postgresPool, postgresStorage } from '../src/index.ts';

// Calls that give up must not leave more and more processes on the server.

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await testPostgres({ settings: ['fsync=off'] });
});
afterAll(() => postgres.remove());

const max = 4;

async function opened(schema: string) {
  const pool = postgresPool({ connectionString: postgres.url(), max });
  const storage = postgresStorage({ pool, schema });
  await storage.open();
  const own = new Client({ connectionString: postgres.url() });
  await own.connect();
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
    await own.end();
  });
  await registered(storage, '1');
  const serverProcesses = async () =>
    (await own.query(`SELECT FROM pg_stat_activity WHERE application_name = 'ostiary'`)).rows.length;
  /** Makes calls for some seconds, which all must fail; returns the largest number of server processes. */
  async function mostWhile(call: (label: string) => Promise<unknown>): Promise<number> {
    const end = performance.now() + 7_000;
    let most = 0;
    const calling = Array.from({ length: 12 }, async (_, caller) => {
      for (let number = 0; performance.now() < end; number += 1)
        await expect(call(`${caller}-${number}`)).rejects.toThrow('did not answer');
    });
    for (; performance.now() < end; await pause(200)) most = Math.max(most, await serverProcesses());
    await Promise.all(calling);
    return most;
  }
  return { storage, own, mostWhile };
}

test('reads go on, however long commits wait for a standby, and the pool keeps its size', async () => {
  const { storage, own, mostWhile } = await opened('standby');
  const confirm = async (standby: string) => {
    await own.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`);
    await own.query('SELECT pg_reload_conf()');
    await pause(300);
  };
  await confirm('nobody');
  let reads = 0;
  const reading = setInterval(() => void storage.partners.find('acme').then(() => (reads += 1)), 100);
  // A partner for each call: calls of one partner would wait for each other.
  const most = await mostWhile((label) => published(storage, label, { partner: label }));
  clearInterval(reading);
  expect(most).toBeLessThanOrEqual(max + 1);
  expect(reads).toBeGreaterThan(50);
  await confirm('');
  await published(storage, 'after');
}, 20_000);

test('reads that wait for a lock are ended on the server, and the pool keeps its size', async () => {
  const { storage, mostWhile } = await opened('locked');
  const holder = new Client({ connectionString: postgres.url() });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE locked.events');
  const owner = { partner: 'acme', mode: 'live' } as const;
  const list = () => storage.events.list({ ...owner, after: 0, limit: 1 });
  const most = await mostWhile(list);
  expect(most).toBeLessThanOrEqual(max + 1);
  await holder.query('ROLLBACK');
  await holder.end();
  expect((await list()).events).toEqual([]);
}, 20_000);
