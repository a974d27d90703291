import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TestPostgres, testPostgres } from '../../../tests/support/postgres.ts';
import { postgresStorage } from '../src/index.ts';
import type { PostgresPool } from '../src/pool.ts';
import { acme, sampleEndpoint, sampleEvent } from './samples.ts';

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await testPostgres({ settings: ['fsync=off'] });
});
afterAll(() => postgres.remove());

const unavailable = { code: 'STORAGE_UNAVAILABLE' };
const consume = { bucket: 'b', limit: 1_000, windowMs: 60_000, now: 1 };
const hold = { claimId: 'c', now: 9, leaseMs: 5, limit: 9, perEndpoint: 9, slots: new Map(), after: null };

/** A storage, and a server that stops to confirm what is committed: as when its disk, or a replica that it waits for, is gone. */
async function openStorage(schema: string, shown: (pool: Pool) => PostgresPool) {
  const pool = new Pool({ connectionString: postgres.url(), max: 8 }).on('error', () => undefined);
  const storage = postgresStorage({ pool: shown(pool), schema });
  await storage.open();
  const own = new Pool({ connectionString: postgres.url(), max: 1 });
  async function confirm(isOn: boolean): Promise<void> {
    await own.query(`ALTER SYSTEM SET synchronous_standby_names = '${isOn ? '' : 'nobody'}'`);
    await own.query('SELECT pg_reload_conf()');
    // The server does it in its own time.
    for (let waiting = isOn; waiting === isOn; ) {
      const trial = new Pool({ connectionString: postgres.url(), max: 1 }).on('error', () => undefined);
      const trying = trial.query("COMMENT ON SCHEMA public IS 'a trial'").catch(() => undefined);
      await Promise.race([trying, pause(300)]);
      const { rows } = await own.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
      waiting = rows.length > 0;
      // Who waits is cancelled, and what it committed stays committed.
      await own.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
      await trying;
      await trial.end();
    }
  }
  onTestFinished(async () => {
    await confirm(true);
    await storage.close();
    await pool.end();
    await own.end();
  });
  const { webhooks, events } = storage;
  await webhooks.create({ endpoint: sampleEndpoint('1'), idempotency: null, max: 9, now: 1 });
  await events.publish([sampleEvent('1')], { idempotency: null, now: 1 });
  const write = (label: string) => events.publish([sampleEvent(label)], { idempotency: null, now: 1 });
  return { storage, confirm, write };
}

/** Milliseconds that something takes. */
async function timed(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
}

test('while nothing can be committed, writes are refused in time and all else goes on', async () => {
  const { storage, confirm, write } = await openStorage('reserve', (pool) => pool);
  const { rateLimits } = storage;
  if (rateLimits === undefined) throw new Error('no shared limits');
  await confirm(false);
  const writing = Array.from({ length: 40 }, (_, index) =>
    timed(expect(write(`w${index}`)).rejects.toMatchObject(unavailable)),
  );
  await pause(300);
  for (let round = 0; round < 10; round += 1) {
    expect(await timed(storage.events.find(acme, 'evt_1'))).toBeLessThan(500);
    expect(await timed(rateLimits.consume(consume))).toBeLessThan(500);
  }
  expect(await storage.deliveries.claim(hold)).toHaveLength(1);
  expect(Math.max(...(await Promise.all(writing)))).toBeLessThan(1_950);

  await confirm(true);
  await write('after');
});

test('without a reserve, which takes a pool that tells its size, reads wait behind the writes', async () => {
  const silent = (pool: Pool): PostgresPool => ({ connect: () => pool.connect() });
  const { storage, confirm, write } = await openStorage('everything', silent);
  await confirm(false);
  const writing = Promise.allSettled(Array.from({ length: 40 }, (_, index) => write(`w${index}`)));
  await pause(300);
  expect(await timed(storage.events.find(acme, 'evt_1'))).toBeGreaterThan(800);
  await writing;
});
