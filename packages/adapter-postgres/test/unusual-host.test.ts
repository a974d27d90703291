import type { Storage } from '@ostiary/core/storage';
import { storageContract } from '@ostiary/testing/contract';
import { Client, type CustomTypesConfig, Pool, type PoolClient, types } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { overrideTypes } from '../../../lab/support/postgres/hostile-types.ts';
import { sampleEvent, samplePartner } from '../../testing/src/contract/partner-samples.ts';
import { now, sampleClient } from '../../testing/src/contract/samples.ts';
import { sequence } from '../../testing/test/adapters/host-transactions.ts';
import { postgresPool, postgresStorage, postgresTypes } from '../src/index.ts';
import { holding } from './locks.ts';
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

// The contract runs once for both: none of these settings hides what a changed type does, or the other way around.
describe('a host that changed pg.types for its whole process, whose operator changed what sessions begin with', () => {
  let server: TestServer;
  let pool: Pool;
  let own: Pool;
  let restore: () => void = () => undefined;
  const schemas = schemaNames();

  beforeAll(async () => {
    if (first === undefined) throw new Error('there is no PostgreSQL');
    server = await first.start();
    restore = overrideTypes();
    const options = Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' ');
    pool = new Pool({ connectionString: server.url, options }).on('error', () => undefined);
    own = new Pool({ connectionString: server.url, types: postgresTypes }).on('error', () => undefined);
  });

  afterAll(async () => {
    restore();
    await pool.end();
    await own.end();
    await server.remove();
  });

  test('reads something else for statements of its own', async () => {
    const { rows } = await pool.query("SELECT 1::bigint AS big, 'a' AS text, true AS yes");
    expect(rows).toEqual([
      { big: { oid: 20, text: '1' }, text: { oid: 25, text: 'a' }, yes: expect.anything() },
    ]);
  });

  const schema = schemas();
  const create = storagesInOneSchema(schema, () => ({ pool, own }));
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

  test('a call that conflicts with one transaction after the other succeeds', async () => {
    const storage = await create();
    await storage.partners.insert(samplePartner());
    const publish = (label: string) =>
      storage.events.publish([sampleEvent(label)], { idempotency: null, now });
    await publish('a');
    const change = `UPDATE "${schema}".event_sequences SET last = last`;
    const other = await holding(server.url, change);
    // Together longer than all attempts of a call and the pauses between them.
    const turns = Array.from({ length: 12 }, () =>
      other.query(`SELECT pg_sleep(0.05); COMMIT; BEGIN; ${change}`),
    );
    await publish('b');
    await Promise.all(turns);
    expect(await sequence(storage)).toEqual(['evt_a', 'evt_b']);
    await storage.close();
  });

  test('returns the time in milliseconds', async () => {
    const storage = await create();
    // A rounded number of seconds would be wrong by hours.
    expect(Math.abs(((await storage.time?.()) ?? 0) - Date.now())).toBeLessThan(60_000);
    await storage.close();
  });

  test('opens a pool of its own and tells the time', async () => {
    const opened = postgresPool({ connectionString: server.url });
    const storage: Storage = postgresStorage({ pool: opened, schema: schemas() });
    await storage.open();
    expect(Math.abs(((await storage.time?.()) ?? 0) - Date.now())).toBeLessThan(60_000);
    await storage.close();
    await opened.end();
  });

  /** Function of an ORM that runs a statement on a client of `pg`. */
  type Query = (statement: { text: string; values: unknown[]; types: CustomTypesConfig }) => Promise<object>;

  /** Publishes an event in a transaction of the host application, and returns the ids of the stored events. */
  async function publishWith(queryOf: (client: PoolClient) => Query): Promise<string[]> {
    const storage = postgresStorage({ pool: own, schema: schemas() });
    await storage.open();
    await storage.partners.insert(samplePartner());
    await storage.clients.insert(sampleClient({ partner: 'acme' }));
    await storage.consents.remember({ sub: 'user-1', clientId: 'client-1', scopes: ['kyc'], now });
    const client = await pool.connect();
    try {
      const transaction = { query: queryOf(client), connect() {}, escapeLiteral() {} };
      const within = storage.events.within(transaction);
      await client.query('BEGIN');
      expect(await within.partnersHolding({ sub: 'user-1', scope: 'kyc' })).toEqual(['acme']);
      await within.publish([sampleEvent('a')]);
      await client.query('COMMIT');
    } finally {
      client.release(true);
    }
    return sequence(storage);
  }

  test('publishes on an object in place of its client that hands the parsers on', async () => {
    const query =
      (client: PoolClient): Query =>
      (statement) =>
        client.query(statement);
    expect(await publishWith(query)).toEqual(['evt_a']);
  });

  test('publishes on one that hands on text and values only, as long as text is read as text', async () => {
    const query =
      (client: PoolClient): Query =>
      ({ text, values }) =>
        client.query(text, values);
    await expect(publishWith(query)).rejects.toThrow(
      'transaction: text does not come as a string: hand the `types` that query is called with on to the driver',
    );
    const changed = types.getTypeParser(types.builtins.TEXT);
    types.setTypeParser(types.builtins.TEXT, (text) => text);
    onTestFinished(() => types.setTypeParser(types.builtins.TEXT, changed));
    expect(await publishWith(query)).toEqual(['evt_a']);
  });

  test.each([['hex'], ['escape']])('reads bytes in the format %s', async (format) => {
    const client = new Client({ connectionString: server.url, types: postgresTypes });
    await client.connect();
    await client.query(`SET bytea_output = ${format}`);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { rows } = await client.query('SELECT $1::bytea AS one, ARRAY [$1::bytea, NULL] AS many', [bytes]);
    expect(rows).toEqual([{ one: bytes, many: [bytes, null] }]);
    await client.end();
  });
});
