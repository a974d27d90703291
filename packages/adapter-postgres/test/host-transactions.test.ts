import type { HostTransaction } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { acme, sampleEndpoint, sampleEvent } from './samples.ts';
import { schemaNames, startServer, type TestServer } from './server.ts';

let server: TestServer;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

async function connected(url: string = server.url): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A storage with one endpoint, and a connection of the host's with a table of the host's. */
async function shared() {
  const schema = nextSchema();
  const storage = postgresStorage({ connectionString: server.url, schema });
  await storage.open();
  onTestFinished(() => storage.close());
  await storage.webhooks.create({ endpoint: sampleEndpoint('1'), idempotency: null, max: 9, now: 1 });
  const host = await connected();
  const users = `host_${schema}`;
  await host.query(`CREATE TABLE ${users} (name text NOT NULL)`);
  return {
    schema,
    storage,
    host,
    addUser: (name: string) => host.query(`INSERT INTO ${users} VALUES ($1)`, [name]),
    async users() {
      const { rows } = await host.query<{ name: string }>(`SELECT name FROM ${users} ORDER BY ctid`);
      return rows.map(({ name }) => name);
    },
  };
}

async function sequence({ events }: Storage): Promise<string[]> {
  const { events: all } = await events.list({ ...acme, after: 0, limit: 1000 });
  return all.map((event) => `${event.sequence} ${event.id}`);
}

async function deliveries(storage: Storage): Promise<string[]> {
  const filter = { endpointId: null, eventId: null, status: null, after: null, limit: 100 };
  return (await storage.deliveries.list({ ...acme, ...filter })).map(({ id }) => id).toSorted();
}

function publish({ events }: Storage, label: string) {
  return events.publish([sampleEvent(label)], { idempotency: null, now: 1 });
}

/** What a call of the outbox rejects with. */
const refused = (call: (outbox: HostTransaction) => unknown, outbox: HostTransaction) =>
  expect(Promise.resolve(call(outbox))).rejects;

test('an event commits with the host’s change, and nobody sees it before', async () => {
  const { storage, host, addUser, users } = await shared();
  await host.query('BEGIN');
  await addUser('Ada');
  await storage.events.within(host).publish([sampleEvent('Ada'), sampleEvent('Ada again')]);
  expect(await sequence(storage)).toEqual([]);
  await host.query('COMMIT');
  expect(await users()).toEqual(['Ada']);
  expect(await sequence(storage)).toEqual(['1 evt_Ada', '2 evt_Ada again']);
  expect(await deliveries(storage)).toEqual(['dl_Ada again_1', 'dl_Ada_1']);
  const { deliveryId: _, ...stored } = sampleEvent('Ada');
  expect(await storage.events.find(acme, 'evt_Ada')).toEqual({ ...stored, sequence: 1 });
});

test('a transaction that is rolled back leaves nothing, and no number is lost', async () => {
  const { storage, host, addUser, users } = await shared();
  await publish(storage, 'first');
  await host.query('BEGIN');
  await addUser('Ada');
  await storage.events.within(host).publish([sampleEvent('Ada')]);
  await host.query('ROLLBACK');
  expect(await users()).toEqual([]);
  expect(await sequence(storage)).toEqual(['1 evt_first']);
  expect(await deliveries(storage)).toEqual(['dl_first_1']);
  await publish(storage, 'Ada');
  expect(await sequence(storage)).toEqual(['1 evt_first', '2 evt_Ada']);
});

test('a client of a pool can be used again in its next transaction', async () => {
  const { storage } = await shared();
  const pool = new Pool({ connectionString: server.url, max: 1 });
  onTestFinished(() => pool.end());
  for (const label of ['a', 'b']) {
    const client = await pool.connect();
    await client.query('BEGIN');
    await storage.events.within(client).publish([sampleEvent(label)]);
    await client.query('COMMIT');
    client.release();
  }
  expect(await sequence(storage)).toEqual(['1 evt_a', '2 evt_b']);
});

test('the host need not wait for its BEGIN, and calls that it does not wait for take turns', async () => {
  const { storage, host } = await shared();
  const begun = host.query('BEGIN');
  const outbox = storage.events.within(host);
  const labels = ['a', 'b', 'taken', 'c'];
  await publish(storage, 'taken');
  const published = await Promise.allSettled(labels.map((label) => outbox.publish([sampleEvent(label)])));
  await begun;
  expect(published.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  await host.query('COMMIT');
  expect(await sequence(storage)).toEqual(['1 evt_taken', '2 evt_a', '3 evt_b', '4 evt_c']);
});

test('events that cannot be stored are undone alone, and the host can go on', async () => {
  const { storage, host, addUser, users } = await shared();
  await publish(storage, 'taken');
  await host.query('BEGIN');
  await addUser('Ada');
  const outbox = storage.events.within(host);
  await refused(({ publish }) => publish([sampleEvent('a'), sampleEvent('taken')]), outbox).toMatchObject(
    unavailable,
  );
  await outbox.publish([sampleEvent('b')]);
  await host.query('COMMIT');
  expect(await users()).toEqual(['Ada']);
  expect(await sequence(storage)).toEqual(['1 evt_taken', '2 evt_b']);
});

test('who may hear about a user is asked inside the transaction', async () => {
  const { schema, storage, host } = await shared();
  const times = { createdAt: 1, updatedAt: 1, disabledAt: null, version: 1 };
  await storage.partners.insert({ slug: 'acme', name: 'Acme', ...times });
  await storage.clients.insert({
    clientId: 'shop',
    name: 'Shop',
    secrets: [],
    redirectUris: [],
    allowedScopes: ['kyc'],
    requirePkce: true,
    requireSecret: false,
    firstParty: false,
    idTokenAlg: 'RS256',
    partner: 'acme',
    ...times,
  });
  await storage.consents.remember({ sub: 'ada', clientId: 'shop', scopes: ['kyc'], now: 1 });
  await host.query('BEGIN');
  const outbox = storage.events.within(host);
  expect(await outbox.partnersHolding({ sub: 'ada', scope: 'kyc' })).toEqual(['acme']);
  await host.query(`UPDATE "${schema}".partners SET disabled_at = 2`);
  expect(await outbox.partnersHolding({ sub: 'ada', scope: 'kyc' }), 'it sees what the host did').toEqual([]);
  await host.query('ROLLBACK');
});

test('neither the host’s search path nor its types matter', async () => {
  const { storage, host } = await shared();
  host.setTypeParser(20, (text) => BigInt(text));
  await host.query('SET search_path TO nowhere; BEGIN');
  await storage.events.within(host).publish([sampleEvent('a'), sampleEvent('b')]);
  await host.query('COMMIT');
  expect(await sequence(storage)).toEqual(['1 evt_a', '2 evt_b']);
  expect(await deliveries(storage)).toEqual(['dl_a_1', 'dl_b_1']);
});

test('what cannot be a client is refused at once', async () => {
  const { storage } = await shared();
  const { within } = storage.events;
  const pool = new Pool({ connectionString: server.url });
  expect(() => within(pool)).toThrow(
    new TypeError('transaction: is a pool; pass the client of pool.connect() that is in a transaction'),
  );
  for (const value of [undefined, null, 'BEGIN', 1, {}, () => undefined, { query: () => undefined }]) {
    expect(() => within(value)).toThrow(
      new TypeError('transaction: has to be a Client of pg that is in a transaction'),
    );
  }
  await pool.end();
});

test('a client in no transaction is refused, and nothing is written', async () => {
  const { storage, host, addUser } = await shared();
  const none = new TypeError('transaction: the client is in no transaction; begin one first');
  const outbox = storage.events.within(host);
  await refused(({ publish }) => publish([sampleEvent('a')]), outbox).toEqual(none);
  await refused(({ partnersHolding }) => partnersHolding({ sub: 'ada', scope: 'kyc' }), outbox).toEqual(none);
  await host.query('BEGIN');
  await addUser('Ada');
  await outbox.publish([sampleEvent('in time')]);
  await host.query('COMMIT');
  await refused(({ publish }) => publish([sampleEvent('late')]), outbox).toEqual(none);
  expect(await sequence(storage)).toEqual(['1 evt_in time']);
});

test('a client of another database is refused, and its transaction goes on', async () => {
  const { storage, schema } = await shared();
  const admin = await connected();
  await admin.query(`CREATE DATABASE "other ${schema}"`);
  const url = new URL(server.url);
  url.pathname = `/other ${schema}`;
  const sameNames = postgresStorage({ connectionString: url.href, schema });
  await sameNames.open();
  onTestFinished(() => sameNames.close());
  const other = await connected(url.href);
  await other.query('BEGIN');
  await refused(({ publish }) => publish([sampleEvent('a')]), storage.events.within(other)).toEqual(
    new TypeError(
      `transaction: the client is connected to another database than this storage: other ${schema}`,
    ),
  );
  await sameNames.events.within(other).publish([sampleEvent('b')]);
  await other.query('COMMIT');
  expect(await sequence(sameNames)).toEqual(['1 evt_b']);
  expect(await sequence(storage)).toEqual([]);
});

test('a transaction that is read-only or has failed is refused', async () => {
  const { storage, host } = await shared();
  const outbox = storage.events.within(host);
  const call = ({ publish }: HostTransaction) => publish([sampleEvent('a')]);
  await host.query('BEGIN READ ONLY');
  await refused(call, outbox).toMatchObject({ name: 'TypeError', message: 'transaction: it is read-only' });
  await host.query('ROLLBACK; BEGIN');
  await expect(host.query('SELECT 1 / 0')).rejects.toThrow();
  await refused(call, outbox).toMatchObject({ ...unavailable, cause: { code: '25P02' } });
  await host.query('ROLLBACK');
  expect(await sequence(storage)).toEqual([]);
});

test('a storage that is closed refuses', async () => {
  const { storage, host } = await shared();
  await host.query('BEGIN');
  const outbox = storage.events.within(host);
  await storage.close();
  expect(() => storage.events.within(host)).toThrow(expect.objectContaining(unavailable));
  await refused(({ publish }) => publish([sampleEvent('a')]), outbox).toMatchObject(unavailable);
  await host.query('ROLLBACK');
});

test('publications of ours wait for a host’s transaction, and no number is lost', async () => {
  const { storage, host } = await shared();
  const ours: Promise<unknown>[] = [];
  for (let round = 0; round < 20; round += 1) {
    await host.query('BEGIN');
    await storage.events.within(host).publish([sampleEvent(`host ${round}`)]);
    const waiting = publish(storage, `${round}`);
    ours.push(waiting);
    const first = await Promise.race([waiting.then(() => 'ours'), host.query('SELECT 1').then(() => 'host')]);
    expect(first, 'ours waits').toBe('host');
    await host.query(round % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
  }
  await Promise.all(ours);
  const { events } = await storage.events.list({ ...acme, after: 0, limit: 1000 });
  expect(events.map((event) => event.sequence)).toEqual(Array.from({ length: 33 }, (_, index) => index + 1));
});

test('a transaction with a snapshot of its own that came too late is refused and can be tried again', async () => {
  const { storage, host, addUser, users } = await shared();
  await publish(storage, 'first');
  const change = async (meanwhile: () => Promise<unknown>) => {
    await host.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await addUser('Ada');
    await meanwhile();
    await storage.events.within(host).publish([sampleEvent('Ada')]);
    await host.query('COMMIT');
  };
  // It would still see the endpoint enabled, and leave a delivery that nobody cancels.
  const disable = () => storage.webhooks.replace(sampleEndpoint('1', { enabled: false, version: 2 }), 9);
  await expect(change(disable)).rejects.toMatchObject({ ...unavailable, cause: { code: '40001' } });
  await host.query('ROLLBACK');
  await change(async () => undefined);
  expect(await users()).toEqual(['Ada']);
  expect(await sequence(storage)).toEqual(['1 evt_first', '2 evt_Ada']);
  expect(await deliveries(storage)).toEqual(['dl_first_1']);
});
