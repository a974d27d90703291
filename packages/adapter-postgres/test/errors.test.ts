import { setTimeout as pause } from 'node:timers/promises';
import type { Storage } from '@ostiary/core/storage';
import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startNetwork } from '../../../lab/support/network.ts';
import { patient } from '../../../lab/support/patient.ts';
import { issued, redeem, sampleToken } from '../../testing/src/contract/samples.ts';
import { Database } from '../src/database.ts';
import { type PostgresStorageOptions, postgresStorage, StorageUnavailableError } from '../src/index.ts';
import { openPool } from '../src/opened-pool.ts';
import { statement } from '../src/statement.ts';
import { storageOn } from '../src/storage.ts';
import { waiting as backendsWaiting } from './locks.ts';
import { hostPool, serverForTests } from './server.ts';

const digest = Buffer.alloc(32, 7);
const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

const server = serverForTests();

const opened = (options: Partial<PostgresStorageOptions> = { connectionString: server.url }) =>
  server.opened(options);

const save = (storage: Storage, payload: { readonly [key: string]: unknown } = {}) =>
  storage.interactions.save(digest, payload, 1000);

const endConnections = (pids: readonly number[]) =>
  server.pool.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [pids]);

/** Checks that a storage call is rejected as the interface specifies, within two seconds. */
async function expectRefused(call: Promise<unknown>, cause?: object): Promise<void> {
  const start = performance.now();
  const error = await call.catch((thrown: unknown) => thrown);
  expect(performance.now() - start).toBeLessThan(2000);
  expect(error).toBeInstanceOf(StorageUnavailableError);
  expect(error).toMatchObject(cause === undefined ? unavailable : { ...unavailable, cause });
}

test('while the server is stopped calls are refused in time, and after its start they succeed again', async () => {
  const { storage } = await opened();
  await save(storage);
  await server.stop();
  const calls = [save(storage), storage.ping(), storage.grants.findToken(digest)];
  await Promise.all(calls.map((call) => expectRefused(call)));
  await server.start();
  await save(storage, { after: 'restart' });
  expect(await storage.interactions.find(digest, 0)).toEqual({ after: 'restart' });
});

test('an open that failed can be tried again', async () => {
  await server.stop();
  const storage = storageOn(
    new Database({
      schema: server.nextSchema(),
      pool: () => openPool(server.url, 1500),
      firstTimeoutMs: 300,
    }),
  );
  onTestFinished(() => storage.close());
  await expectRefused(storage.open());
  await expectRefused(storage.ping());
  await server.start();
  await storage.open();
  await storage.ping();
});

test('idle connections that the server ends do not end the process, and are replaced', async () => {
  const { storage } = await opened();
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([save(storage), save(storage), storage.ping()]);
    await server.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ostiary'",
    );
    const outcomes = await Promise.allSettled([save(storage, { round }), storage.ping()]);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(unavailable);
    }
    await save(storage, { round });
    expect(await storage.interactions.find(digest, 0)).toEqual({ round });
  }
});

const key = {
  kid: 'k',
  alg: 'RS256',
  publicJwk: '{}',
  sealedPrivateJwk: 's',
  createdAt: 1,
  activeFrom: 1,
} as const;

test.each([
  ['transaction', ({ signingKeys }: Storage) => signingKeys.insertFirst(key), true, [key]],
  ['read', ({ signingKeys }: Storage) => signingKeys.list(), [], []],
])('a %s whose connection is ended is tried again', async (_what, call, answer, stored) => {
  const { storage, holding, waiting } = await opened();
  const first = await holding('LOCK TABLE ostiary.signing_keys');
  const calling = call(storage);
  await endConnections(await waiting(1));
  await waiting(1);
  await first.query('ROLLBACK');
  expect(await calling).toEqual(answer);
  expect(await storage.signingKeys.list()).toEqual(stored);
});

test('a statement whose connection is ended is refused and not repeated', async () => {
  const { storage, holding, waiting } = await opened();
  await save(storage);
  const first = await holding('SELECT FROM ostiary.interactions FOR UPDATE');
  // Expect the refusal from the beginning: it may come before the response to the call that causes it.
  const refused = expectRefused(save(storage, { lost: true }), { code: '57P01' });
  await endConnections(await waiting(1));
  await refused;
  await first.query('ROLLBACK');
  expect(await storage.interactions.find(digest, 0)).toEqual({});
});

test('a call that waits for somebody else is refused in time and changes nothing, also later', async () => {
  const { schema, storage, holding } = await opened();
  const grant = await issued(storage, 'a');
  const first = await holding('SELECT FROM ostiary.grants FOR UPDATE');
  await expectRefused(redeem(storage, grant, sampleToken('a')));
  // The server ends the statement, too, while the lock is still held.
  await expect.poll(() => backendsWaiting(server.pool, schema)).toEqual([]);
  await first.query('ROLLBACK');
  expect(await storage.grants.find(grant.codeDigest)).toMatchObject({ consumedAt: null });
});

test('a pool without a free connection is refused in time, and used again when it has one', async () => {
  const small = hostPool(server.url);
  small.options.max = 1;
  onTestFinished(() => small.end());
  const { storage } = await opened({ pool: small });
  const taken = await small.connect();
  await Promise.all([expectRefused(save(storage)), expectRefused(storage.ping())]);
  taken.release();
  await save(storage);
  expect(small.waitingCount).toBe(0);
  expect(small.totalCount).toBe(1);
});

test('a server without a free connection is waited for, and refused in time', async () => {
  await server.pool.query("CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 1");
  const schema = server.nextSchema();
  await server.pool.query(`CREATE SCHEMA "${schema}" AUTHORIZATION crowded`);
  const connectionString = server.url.replace('postgres:postgres@', 'crowded:crowded@');
  const pool = hostPool(connectionString);
  const storage = storageOn(new Database({ schema, pool, firstTimeoutMs: 600 }));
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
  });
  const other = new Client({ connectionString });
  await other.connect();
  await expect(storage.open()).rejects.toMatchObject({
    message: expect.stringMatching(/did not come up within 600 ms: too many connections for role/),
    cause: { code: '53300' },
  });
  const opening = storage.open();
  await pause(200);
  await other.end();
  await opening;
  // Another process takes the role's only connection, and returns it while a call waits.
  (await pool.connect()).release(true);
  const again = await vi.waitFor(async () => {
    const client = new Client({ connectionString });
    await client.connect();
    return client;
  }, patient);
  await expectRefused(storage.ping(), { code: '53300' });
  const waiting = storage.ping();
  await pause(200);
  await again.end();
  await waiting;
});

test('while every packet is lost calls are refused in time, and new connections are made afterwards', async () => {
  const network = await startNetwork(server.port);
  const connectionString = server.url.replace(`:${server.port}/`, `:${network.port}/`);
  const { storage } = await opened({ connectionString });
  onTestFinished(() => network.close());
  await Promise.all([save(storage), save(storage), storage.ping()]);
  network.cut();
  await Promise.all([expectRefused(save(storage)), expectRefused(storage.ping())]);
  await Promise.all([expectRefused(save(storage)), expectRefused(storage.ping())]);
  network.mend();
  await save(storage, { after: 'thaw' });
  expect(await storage.interactions.find(digest, 0)).toEqual({ after: 'thaw' });
});

test('what a process held that is not heard of any more is free again after a while', async () => {
  const network = await startNetwork(server.port);
  const connectionString = server.url.replace(`:${server.port}/`, `:${network.port}/`);
  const schema = server.nextSchema();
  const far = postgresStorage({ connectionString, schema });
  await far.open();
  await save(far);
  const lost = hostPool(connectionString);
  const database = new Database({ schema, pool: lost });
  await database.open();
  const lock = statement<object>(`SELECT FROM "${schema}".interactions FOR UPDATE`);
  await expectRefused(
    database.write(async (connection) => {
      await lock.run(connection, {});
      network.cut();
      await lock.run(connection, {});
    }),
  );
  const near = postgresStorage({ connectionString: server.url, schema });
  await near.open();
  await expectRefused(save(near));
  await expect
    .poll(() =>
      save(near).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await near.close();
  await network.close();
  await Promise.all([database.close(), far.close(), lost.end()]);
});

test('a database that turns read-only is refused, and connections to it are given up', async () => {
  const { storage } = await opened();
  await save(storage);
  const turn = async (value: 'on' | 'off') => {
    await server.pool.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await server.pool.query('SELECT pg_reload_conf()');
  };
  onTestFinished(() => turn('off'));
  await turn('on');
  // Each refusal waits for a server that accepts writes.
  await expect
    .poll(() => save(storage).then(() => 'saved', String), { timeout: 10_000 })
    .toMatch(/takes no writes/);
  // The storage does not read from a server that refuses writes either.
  await expectRefused(storage.interactions.find(digest, 0));
  await turn('off');
  await expect.poll(() => save(storage).then(() => 'saved', String)).toBe('saved');
});
