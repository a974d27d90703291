import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TestPostgres, testPostgres } from '../../../lab/support/postgres/postgres.ts';
import { acme } from '../../testing/src/contract/partner-samples.ts';
import { claim, published, registered } from '../../testing/src/contract/webhook-samples.ts';
import { postgresStorage } from '../src/index.ts';

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await testPostgres({ settings: ['fsync=off'] });
});
afterAll(() => postgres.remove());

const connections = 8;
const writeCount = 40;
const consume = { bucket: 'b', limit: 1_000, windowMs: 60_000, now: 1 };

const ignore = (): void => undefined;

/** Makes a pool with a listener for errors of idle connections, which the server may end. */
function openPool(max: number): Pool {
  const pool = new Pool({ connectionString: postgres.url(), max });
  return pool.on('error', ignore).on('connect', (client) => client.on('error', ignore));
}

/**
 * Opens a storage on a database server that can stop confirming commits, as if its disk or a synchronous
 * replica had failed.
 */
async function openStorage() {
  const pool = openPool(connections);
  const storage = postgresStorage({ pool });
  await storage.open();
  const own = openPool(1);
  async function confirm(isOn: boolean): Promise<void> {
    await own.query(`ALTER SYSTEM SET synchronous_standby_names = '${isOn ? '' : 'nobody'}'`);
    await own.query('SELECT pg_reload_conf()');
    // Wait, because the server applies the setting asynchronously.
    for (let waiting = isOn; waiting === isOn; ) {
      const trial = openPool(1);
      const trying = trial.query("COMMENT ON SCHEMA public IS 'a trial'").catch(() => undefined);
      await Promise.race([trying, pause(300)]);
      const { rows } = await own.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
      waiting = rows.length > 0;
      // Cancel the waiting statements. Their data is committed already.
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
  await registered(storage, '1');
  await published(storage, '1');
  // A partner for each call, because calls of one partner would wait for each other instead of for
  // connections.
  const write = (label: string) => published(storage, label, { partner: label });
  /** Waits until this many connections have a transaction that cannot commit. */
  async function untilBusy(count: number): Promise<void> {
    for (let busy = 0; busy < count; ) {
      const { rows } = await own.query(
        `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' OR wait_event_type = 'Lock'`,
      );
      busy = rows.length;
    }
  }
  return { storage, confirm, write, untilBusy };
}

/** Starts more writes than there are connections, and counts the writes that are refused. */
function writes(write: (label: string) => Promise<unknown>) {
  let count = 0;
  const all = Array.from({ length: writeCount }, (_, index) =>
    write(`w${index}`).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
      count += 1;
    }),
  );
  return { refused: () => count, ended: Promise.all(all) };
}

test('while nothing can be committed, writes are refused and other calls succeed', async () => {
  const { storage, confirm, write, untilBusy } = await openStorage();
  const { rateLimits } = storage;
  if (rateLimits === undefined) throw new Error('no shared limits');
  await confirm(false);
  const writing = writes(write);
  await untilBusy(connections - connections / 4);
  for (let round = 0; round < 10; round += 1) {
    expect(await storage.events.find(acme, 'evt_1')).toMatchObject({ id: 'evt_1' });
    expect(await rateLimits.consume(consume)).toMatchObject({ allowed: true, count: round + 1 });
  }
  expect(await claim(storage, 'c')).toHaveLength(1);
  expect(writing.refused(), 'nothing of it has waited for a write').toBe(0);
  await writing.ended;
  expect(writing.refused()).toBe(writeCount);

  await confirm(true);
  await write('after');
});
