import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TestPostgres, testPostgres } from '../../../lab/support/postgres/postgres.ts';
import { published, registered } from '../../testing/src/contract/webhook-samples.ts';
import { untilEnded } from '../src/abandoned.ts';
import { postgresPool, postgresStorage } from '../src/index.ts';

// Calls that give up must not leave more and more processes on the server.

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await testPostgres({ settings: ['fsync=off', 'max_connections=30'] });
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

test('a connection that the network has cut gives its place back', async () => {
  const connections: [ours: Socket, servers: Socket][] = [];
  const cut = new Set<Socket>();
  // Like a firewall that forgets its connections: both ends stay open, and nothing passes any more.
  const firewall = createServer((ours) => {
    const servers = connect(postgres.port, '127.0.0.1');
    connections.push([ours, servers]);
    for (const [from, to] of [
      [ours, servers],
      [servers, ours],
    ] as const) {
      from.on('error', () => undefined);
      from.on('data', (bytes) => void (cut.has(ours) || to.write(bytes)));
      from.on('close', () => void (cut.has(ours) || to.destroy()));
    }
  });
  await new Promise<void>((resolve) => firewall.listen(0, '127.0.0.1', resolve));
  const url = new URL(postgres.url());
  url.port = String((firewall.address() as AddressInfo).port);
  const pool = postgresPool({ connectionString: url.href, max: 2 });
  const storage = postgresStorage({ pool, schema: 'cut' });
  await storage.open();
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
    for (const pair of connections) for (const socket of pair) socket.destroy();
    firewall.close();
  });
  await registered(storage, '1');
  const list = (after: number) => storage.events.list({ partner: 'acme', mode: 'live', after, limit: 1 });
  await Promise.all([list(0), list(1), list(2)]);
  for (const [ours] of connections) cut.add(ours);
  const end = performance.now() + 12_000;
  for (let works = false; !works; )
    works = await list(0).then(
      () => true,
      () => performance.now() > end,
    );
  expect(performance.now()).toBeLessThan(end);
}, 20_000);

test('a statement that waits for a lock is ended, although it could commit, and reads go on', async () => {
  const { storage } = await opened('counted');
  const holder = new Client({ connectionString: postgres.url() });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE counted.rate_limits');
  for (let call = 0; call <= max; call += 1) {
    const request = { bucket: 'b', limit: 1, windowMs: 1000, now: call };
    await expect(storage.rateLimits?.consume(request)).rejects.toThrow('did not answer');
    await storage.partners.find('acme');
  }
  await holder.end();
}, 20_000);

test('a process of another database is not touched, although its id was given', async () => {
  const victim = new Client({ connectionString: await postgres.newDatabase() });
  await victim.connect();
  const slept = victim.query('SELECT pg_sleep(1)');
  const pool = postgresPool({ connectionString: postgres.url(), max: 1 });
  await untilEnded(pool, Reflect.get(victim, 'processID'), new Promise(() => undefined), true);
  await expect(slept).resolves.toMatchObject({ rowCount: 1 });
  await victim.end();
  await pool.end();
});

test('a place stays taken while the server has no connection left to ask it', async () => {
  const running = new Client({ connectionString: postgres.url() });
  await running.connect();
  const others: Client[] = [];
  for (let isFull = false; !isFull; ) {
    const other = new Client({ connectionString: postgres.url() });
    await other.connect().then(
      () => others.push(other),
      () => (isFull = true),
    );
  }
  const slept = running.query('SELECT pg_sleep(3)');
  const pool = postgresPool({ connectionString: postgres.url(), max: 1 });
  let isFree = false;
  void untilEnded(pool, Reflect.get(running, 'processID'), slept, false).then(() => (isFree = true));
  await pause(1_500);
  expect(isFree).toBe(false);
  await slept;
  await Promise.all([...others, running].map((other) => other.end()));
  await pool.end();
  expect(isFree).toBe(true);
});

test('a statement of a user whose sessions switch to a role is ended', async () => {
  const own = new Client({ connectionString: postgres.url() });
  await own.connect();
  await own.query(`CREATE ROLE owner; CREATE ROLE app LOGIN PASSWORD 'app' IN ROLE owner`);
  await own.query('ALTER ROLE app SET role = owner');
  await own.end();
  const url = new URL(postgres.url());
  [url.username, url.password] = ['app', 'app'];
  const running = new Client({ connectionString: url.href });
  await running.connect();
  const slept = running.query('SELECT pg_sleep(4)');
  const pool = postgresPool({ connectionString: url.href, max: 1 });
  const ended = untilEnded(pool, Reflect.get(running, 'processID'), slept, true);
  await expect(slept).rejects.toThrow('canceling statement');
  await ended;
  await running.end();
  await pool.end();
});
