import type { Storage } from '@ostiary/core/storage';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startNetwork } from '../../../lab/support/network.ts';
import { type Pair, startPair } from '../../../lab/support/postgres/pair.ts';
import { Database } from '../src/database.ts';
import { postgresPool, postgresStorage } from '../src/index.ts';
import { eachHost, openPool } from '../src/opened-pool.ts';
import { storageOn } from '../src/storage.ts';
import { hostPool } from './server.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await startPair({ fsync: false });
  await pair.addStandby();
});

afterAll(() => pair.remove());

const takesNoWrites = {
  code: 'STORAGE_UNAVAILABLE',
  message: expect.stringMatching(/takes no writes: it is a standby/),
};

/**
 * Matches the error of the database host that was tried last: nothing listens there, or the server accepts no
 * writes.
 */
const noPrimary = /ECONNREFUSED|takes no writes/;

const digest = Buffer.alloc(32, 7);
const save = (storage: Storage) => storage.interactions.save(digest, { kept: true }, 1_000);
const find = (storage: Storage) => storage.interactions.find(digest, 0);

test.each(['its own', 'the host’s'])('a storage with %s pool reads nothing from a standby', async (whose) => {
  const url = pair.url([pair.standbyPort()]);
  const host = hostPool(url);
  const database = new Database({
    schema: 'ostiary',
    pool: whose === 'its own' ? () => openPool(url, 1_500) : host,
    firstTimeoutMs: 400,
  });
  const storage = storageOn(database);
  onTestFinished(async () => {
    await storage.close();
    await host.end();
  });
  await expect(storage.open()).rejects.toMatchObject(takesNoWrites);
  // No connection to it is kept. Poll, because on a busy machine one was still opened when the time was over.
  await expect.poll(() => host.totalCount).toBe(0);
});

test('a pool for several hosts connects to the primary, at any position in the list', async () => {
  const [primary, standby] = [pair.primaryPort(), pair.standbyPort()];
  // Drop its packets, because a machine that is gone does not refuse connections.
  const gone = await startNetwork(primary);
  gone.cut();
  onTestFinished(() => gone.close());
  for (const ports of [
    [primary, standby],
    [1, standby, primary],
    [gone.port, primary],
  ]) {
    const pool = postgresPool({ connectionString: pair.url(ports) });
    const client = await pool.connect();
    const { rows } = await client.query({ text: 'SELECT pg_is_in_recovery() AS "isStandby"' });
    client.release();
    expect(rows).toEqual([{ isStandby: false }]);
    expect(pool.totalCount).toBe(1);
    await pool.end();
  }
});

test('reads are refused until the standby takes over, and then calls succeed with the same storage', async () => {
  const storage = postgresStorage({ connectionString: pair.url() });
  onTestFinished(() => storage.close());
  await storage.open();
  await save(storage);
  await pair.kill();
  for (let call = 0; call < 5; call += 1) {
    for (const work of [find, save])
      await expect(work(storage)).rejects.toMatchObject({ message: expect.stringMatching(noPrimary) });
  }
  await pair.promote();
  expect(await find(storage)).toEqual({ kept: true });
  await save(storage);
});

test('a connection string may name several hosts, as libpq has them', () => {
  expect(eachHost('postgres://u:p,@a:1,[::1]:2,c/db?sslmode=require')).toEqual([
    'postgres://u:p,@a:1/db?sslmode=require',
    'postgres://u:p,@[::1]:2/db?sslmode=require',
    'postgres://u:p,@c/db?sslmode=require',
  ]);
  for (const hosts of ['a,', ',a', 'a,,b'])
    expect(() => postgresStorage({ connectionString: `postgres://u:secret@${hosts}/db` })).toThrow(
      'postgresStorage: options.connectionString has a comma without a host beside it',
    );
});
