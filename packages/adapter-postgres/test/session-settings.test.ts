import { storageContract } from '@ostiary/testing/contract';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storagesInOneSchema } from './one-schema.ts';
import { schemaNames, type TestServer, testServers } from './server.ts';

const [first] = testServers();

/**
 * Settings that operators may give a role or a database, with values that change what statements do or
 * return.
 */
const settings = {
  default_transaction_isolation: 'serializable',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  datestyle: 'German',
  intervalstyle: 'sql_standard',
  timezone: 'America/Port-au-Prince',
  standard_conforming_strings: 'off',
  idle_session_timeout: '1s',
};

describe('a database whose operator changed what sessions begin with', () => {
  let server: TestServer;
  let pool: Pool;
  const schemas = schemaNames();

  beforeAll(async () => {
    if (first === undefined) throw new Error('there is no PostgreSQL');
    server = await first.start();
    const options = Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' ');
    pool = new Pool({ connectionString: server.url, options }).on('error', () => undefined);
  });

  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  const create = storagesInOneSchema(schemas(), () => ({ pool, own: pool }));
  for (const { name, run } of storageContract(create, { rateLimits: true, time: true, wakeUps: true }))
    test(name, run);

  test('a call whose connection was ended for being idle is made again, although its statement commits', async () => {
    const storage = await create();
    await storage.queue.enqueue([{ id: 'late', kind: 'late', payload: {}, dueAt: 0 }]);
    // Blocks the event loop, so that the statement is sent before the process reads that the connection has
    // ended.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    const claimed = await storage.queue.claim({
      kinds: ['late'],
      claimId: 'c',
      now: 1,
      leaseMs: 1,
      limit: 1,
    });
    expect(claimed.map(({ id }) => id)).toEqual(['late']);
    await storage.close();
  });

  test('returns the time in milliseconds', async () => {
    const storage = await create();
    expect(Math.abs(((await storage.time?.()) ?? 0) - Date.now())).toBeLessThan(1_000);
    await storage.close();
  });
});
