import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import { listedIds, registered, sampleEndpoint } from '../../testing/src/contract/webhook-samples.ts';
import {
  hostTransactionTests,
  publish,
  sequence,
  unavailable,
} from '../../testing/test/adapters/host-transactions.ts';
import { postgresStorage } from '../src/index.ts';
import { hostPool, serverForTests } from './server.ts';

const server = serverForTests({ onlyRows: true });

async function connected(url: string = server.url): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/**
 * Opens a storage with one webhook endpoint, and a second connection, on which the host application has a
 * table of its own in the same database.
 */
async function shared() {
  const { schema, storage } = await server.opened();
  await registered(storage, '1');
  const handle = await connected();
  await handle.query(`SET search_path TO "${schema}"`);
  const users = `public.host_${server.nextSchema()}`;
  await handle.query(`CREATE TABLE ${users} (name text NOT NULL)`);
  return {
    schema,
    storage,
    handle,
    execute: (sql: string) => handle.query(sql),
    addUser: (name: string) => handle.query(`INSERT INTO ${users} VALUES ($1)`, [name]),
    async users() {
      const { rows } = await handle.query<{ name: string }>(`SELECT name FROM ${users} ORDER BY ctid`);
      return rows.map(({ name }) => name);
    },
    async speakOtherwise() {
      handle.setTypeParser(20, (text) => BigInt(text));
      await handle.query('SET search_path TO nowhere');
    },
  };
}

hostTransactionTests(shared);

test('a client of a pool can be used again in its next transaction', async () => {
  const { storage } = await shared();
  const pool = hostPool(server.url);
  pool.options.max = 1;
  onTestFinished(() => pool.end());
  for (const label of ['a', 'b']) {
    const client = await pool.connect();
    await client.query('BEGIN');
    await storage.events.within(client).publish([sampleEvent(label)]);
    await client.query('COMMIT');
    client.release();
  }
  expect(await sequence(storage)).toEqual(['evt_a', 'evt_b']);
});

test('temporary tables of the host with the names of ours are not taken for them', async () => {
  const { storage, handle } = await shared();
  const names = [
    'events',
    'event_sequences',
    'deliveries',
    'pending_deliveries',
    'webhook_endpoints',
    'partners',
  ];
  for (const name of names) await handle.query(`CREATE TEMP TABLE ${name} (id text)`);
  await handle.query('BEGIN');
  await storage.events.within(handle).publish([sampleEvent('a')]);
  await handle.query('COMMIT');
  expect(await sequence(storage)).toEqual(['evt_a']);
});

test('the host need not wait for its BEGIN, and calls that it does not wait for take turns', async () => {
  const { storage, handle } = await shared();
  const begun = handle.query('BEGIN');
  const outbox = storage.events.within(handle);
  const labels = ['a', 'b', 'taken', 'c'];
  await publish(storage, 'taken');
  const published = await Promise.allSettled(labels.map((label) => outbox.publish([sampleEvent(label)])));
  await begun;
  expect(published.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  await handle.query('COMMIT');
  expect(await sequence(storage)).toEqual(['evt_taken', 'evt_a', 'evt_b', 'evt_c']);
});

test('what cannot be a client is refused at once', async () => {
  const { storage } = await shared();
  const { within } = storage.events;
  expect(() => within(server.pool)).toThrow(
    new TypeError('transaction: is a pool; pass the client of pool.connect() that is in a transaction'),
  );
  for (const value of [undefined, null, 'BEGIN', 1, {}, () => undefined, { query: () => undefined }]) {
    expect(() => within(value)).toThrow(
      new TypeError('transaction: has to be a Client of pg that is in a transaction'),
    );
  }
});

test('a client of another database is refused, and its transaction continues', async () => {
  const { storage, schema, handle } = await shared();
  const name = `other ${server.nextSchema()}`;
  await handle.query(`CREATE DATABASE "${name}"`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const { storage: sameNames } = await server.opened({ connectionString: url.href, schema });
  const other = await connected(url.href);
  await other.query('BEGIN');
  await expect(storage.events.within(other).publish([sampleEvent('a')])).rejects.toEqual(
    new TypeError(`transaction: the client is connected to another database than this storage: ${name}`),
  );
  await sameNames.events.within(other).publish([sampleEvent('b')]);
  await other.query('COMMIT');
  expect(await sequence(sameNames)).toEqual(['evt_b']);
  expect(await sequence(storage)).toEqual([]);
});

test('a host that holds all connections of the pool can publish', async () => {
  const { schema } = await shared();
  const pool = hostPool(server.url);
  pool.options.max = 1;
  const storage = postgresStorage({ pool, schema });
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
  });
  await storage.open();
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await storage.events.within(client).publish([sampleEvent('a')]);
    await client.query('COMMIT');
  } finally {
    client.release(true);
  }
  expect(await sequence(storage)).toEqual(['evt_a']);
});

// As a restored backup does, and a deployment that switches the name of the database to an upgraded copy.
test('a database that was replaced while the storage is open is still its database', async () => {
  const { storage, schema, handle } = await shared();
  const publishOn = async (client: Client, label: string) => {
    await client.query('BEGIN');
    await storage.events.within(client).publish([sampleEvent(label)]);
    await client.query('COMMIT');
  };
  await publishOn(handle, 'a');
  const replaced = `"${schema}".schema_migrations`;
  await handle.query(`CREATE TABLE "${schema}".copy (LIKE ${replaced} INCLUDING ALL)`);
  await handle.query(`INSERT INTO "${schema}".copy SELECT * FROM ${replaced}`);
  await handle.query(`DROP TABLE ${replaced}`);
  await handle.query(`ALTER TABLE "${schema}".copy RENAME TO schema_migrations`);
  await publishOn(await connected(), 'b');
  expect(await sequence(storage)).toEqual(['evt_a', 'evt_b']);
});

test('a transaction that is read-only or has failed is refused', async () => {
  const { storage, handle } = await shared();
  const outbox = storage.events.within(handle);
  const refused = () => expect(outbox.publish([sampleEvent('a')])).rejects;
  await handle.query('BEGIN READ ONLY');
  await refused().toMatchObject({ name: 'TypeError', message: 'transaction: it is read-only' });
  await handle.query('ROLLBACK; BEGIN');
  await expect(handle.query('SELECT 1 / 0')).rejects.toThrow();
  await refused().toMatchObject({ ...unavailable, cause: { code: '25P02' } });
  await handle.query('ROLLBACK');
  expect(await sequence(storage)).toEqual([]);
});

test('a transaction that was begun before the storage was closed takes no more events', async () => {
  const { storage, handle } = await shared();
  await handle.query('BEGIN');
  const outbox = storage.events.within(handle);
  await storage.close();
  await expect(outbox.publish([sampleEvent('a')])).rejects.toMatchObject(unavailable);
  await handle.query('ROLLBACK');
});

test('publications of ours wait for a host’s transaction, and no number is lost', async () => {
  const { storage, handle } = await shared();
  const ours: Promise<unknown>[] = [];
  for (let round = 0; round < 20; round += 1) {
    await handle.query('BEGIN');
    await storage.events.within(handle).publish([sampleEvent(`host ${round}`)]);
    const waiting = publish(storage, `${round}`);
    ours.push(waiting);
    const first = await Promise.race([
      waiting.then(() => 'ours'),
      handle.query('SELECT 1').then(() => 'host'),
    ]);
    expect(first, 'ours waits').toBe('host');
    await handle.query(round % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
  }
  await Promise.all(ours);
  expect(await sequence(storage)).toHaveLength(33);
});

test('a transaction with a snapshot that is too old is refused and can be retried', async () => {
  const { storage, handle, addUser, users } = await shared();
  await publish(storage, 'first');
  const change = async (meanwhile: () => Promise<unknown>) => {
    await handle.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await addUser('Ada');
    await meanwhile();
    await storage.events.within(handle).publish([sampleEvent('Ada')]);
    await handle.query('COMMIT');
  };
  // Without the wait, the transaction would see the endpoint as enabled, and create a delivery that is never
  // cancelled.
  const disable = () => storage.webhooks.replace(sampleEndpoint('1', { enabled: false, version: 2 }), now);
  await expect(change(disable)).rejects.toMatchObject({ ...unavailable, cause: { code: '40001' } });
  await handle.query('ROLLBACK');
  await change(async () => undefined);
  expect(await users()).toEqual(['Ada']);
  expect(await sequence(storage)).toEqual(['evt_first', 'evt_Ada']);
  expect(await listedIds(storage)).toEqual(['dl_first_1']);
});
