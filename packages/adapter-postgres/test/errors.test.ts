import type { Storage } from '@ostiary/core/storage';
import { Client, type Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { type PostgresStorageOptions, postgresStorage, StorageUnavailableError } from '../src/index.ts';
import { openPool } from '../src/pool.ts';
import { statement } from '../src/statement.ts';
import { storageOn } from '../src/storage.ts';
import { frozenProxy } from './frozen-proxy.ts';
import { holding, untilWaiting, waiting } from './locks.ts';
import { hostPool, schemaNames, startServer, type TestServer } from './server.ts';

const digest = Buffer.alloc(32, 7);
const unavailable = { name: 'StorageUnavailableError', code: 'STORAGE_UNAVAILABLE' };

let server: TestServer;
/** For what a test does behind the storage's back. */
let pool: Pool;
const nextSchema = schemaNames();

beforeAll(async () => {
  server = await startServer();
  pool = hostPool(server.url);
});

afterAll(async () => {
  await pool.end();
  await server.remove();
});

async function opened(options: Partial<PostgresStorageOptions> = {}) {
  const schema = nextSchema();
  const where = options.pool === undefined ? { connectionString: server.url } : {};
  const storage = postgresStorage({ schema, ...where, ...options });
  await storage.open();
  onTestFinished(() => storage.close());
  return { schema, storage };
}

const save = (storage: Storage, payload: { readonly [key: string]: unknown } = {}) =>
  storage.interactions.save(digest, payload, 1000);

/** Rejects as the port says, within two seconds. */
async function expectRefused(call: Promise<unknown>, cause?: object): Promise<void> {
  const start = performance.now();
  const error = await call.catch((thrown: unknown) => thrown);
  expect(performance.now() - start).toBeLessThan(2000);
  expect(error).toBeInstanceOf(StorageUnavailableError);
  expect(error).toMatchObject(cause === undefined ? unavailable : { ...unavailable, cause });
}

test('while the server is stopped calls are refused at once, and after its start everything goes on', async () => {
  const { storage } = await opened();
  await save(storage);
  await server.stop();
  await expectRefused(save(storage));
  await expectRefused(storage.ping());
  await expectRefused(storage.grants.findToken(digest));
  await server.start();
  await save(storage, { after: 'restart' });
  expect(await storage.interactions.find(digest, 0)).toEqual({ after: 'restart' });
});

test('an open that failed can be tried again', async () => {
  await server.stop();
  const storage = storageOn(
    new Database({ schema: nextSchema(), pool: () => openPool(server.url, 1500), firstPatienceMs: 300 }),
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
    await pool.query(
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

test('a transaction whose connection is ended before it commits is tried again', async () => {
  const { schema, storage } = await opened();
  const first = await holding(server.url, `LOCK TABLE "${schema}".signing_keys`);
  const key = {
    kid: 'k',
    alg: 'RS256',
    publicJwk: '{}',
    sealedPrivateJwk: 's',
    createdAt: 1,
    activeFrom: 1,
  } as const;
  const inserting = storage.signingKeys.insertFirst(key);
  for (const pid of await untilWaiting(pool, schema))
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await untilWaiting(pool, schema);
  await first.query('ROLLBACK');
  expect(await inserting).toBe(true);
  expect(await storage.signingKeys.list()).toEqual([key]);
});

test('a read whose connection is ended is tried again', async () => {
  const { schema, storage } = await opened();
  const first = await holding(server.url, `LOCK TABLE "${schema}".signing_keys`);
  const reading = storage.signingKeys.list();
  for (const pid of await untilWaiting(pool, schema)) {
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
  }
  await untilWaiting(pool, schema);
  await first.query('ROLLBACK');
  expect(await reading).toEqual([]);
});

test('a statement whose connection is ended is refused and not repeated', async () => {
  const { schema, storage } = await opened();
  await save(storage);
  const first = await holding(server.url, `SELECT FROM "${schema}".interactions FOR UPDATE`);
  // Expected from the beginning: the refusal may come before the answer to the call that causes it.
  const refused = expectRefused(save(storage, { lost: true }), { code: '57P01' });
  for (const pid of await untilWaiting(pool, schema))
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await refused;
  await first.query('ROLLBACK');
  expect(await storage.interactions.find(digest, 0)).toEqual({});
});

test('a call that waits for somebody else is refused in time and changes nothing, also later', async () => {
  const { schema, storage } = await opened();
  await pool.query(`INSERT INTO "${schema}".clients (client_id, version, record) VALUES ('c', 1, '{}')`);
  await pool.query(
    `INSERT INTO "${schema}".grants
       (code_digest, client_id, sub, scopes, redirect_uri, authenticated_at, issued_at, expires_at, ends_at)
     VALUES ($1, 'c', 's', '{}', '', 1, 1, 9, 9)`,
    [digest],
  );
  const first = await holding(server.url, `SELECT FROM "${schema}".grants FOR UPDATE`);
  const token = { digest, issuedAt: 1, expiresAt: 9 };
  await expectRefused(storage.grants.redeem({ codeDigest: digest, token, maxFailedVerifiers: 5, now: 1 }));
  // The server ends it as well, and not only when the lock is free.
  await expect.poll(() => waiting(pool, schema)).toEqual([]);
  await first.query('ROLLBACK');
  expect(await storage.grants.find(digest)).toMatchObject({ consumedAt: null });
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

test('a server without a free connection is refused, and used again when it has one', async () => {
  const { storage } = await opened();
  await pool.query("CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 1");
  const schema = nextSchema();
  await pool.query(`CREATE SCHEMA "${schema}" AUTHORIZATION crowded`);
  const connectionString = server.url.replace('postgres:postgres@', 'crowded:crowded@');
  const other = new Client({ connectionString });
  await other.connect();
  const second = postgresStorage({ connectionString, schema });
  onTestFinished(() => second.close());
  await expectRefused(second.open(), { code: '53300' });
  await other.end();
  await second.open();
  await storage.ping();
});

test('while every packet is lost calls are refused in time, and new connections are made afterwards', async () => {
  const proxy = await frozenProxy(server.port);
  const connectionString = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const { storage } = await opened({ connectionString });
  onTestFinished(() => proxy.close());
  await Promise.all([save(storage), save(storage), storage.ping()]);
  proxy.freeze();
  await Promise.all([expectRefused(save(storage)), expectRefused(storage.ping())]);
  await Promise.all([expectRefused(save(storage)), expectRefused(storage.ping())]);
  proxy.thaw();
  await save(storage, { after: 'thaw' });
  expect(await storage.interactions.find(digest, 0)).toEqual({ after: 'thaw' });
});

test('what a process held that is not heard of any more is free again after a while', async () => {
  const proxy = await frozenProxy(server.port);
  const connectionString = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const schema = nextSchema();
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
      proxy.freeze();
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
  await proxy.close();
  await Promise.all([database.close(), far.close(), lost.end()]);
});

test('a database that turned read-only is refused, and the connection to it is given up', async () => {
  const { schema, storage } = await opened();
  await save(storage);
  await pool.query('ALTER ROLE postgres SET default_transaction_read_only = on');
  onTestFinished(async () => {
    await pool.query('SET default_transaction_read_only = off');
  });
  const second = postgresStorage({ connectionString: server.url, schema });
  await expectRefused(second.open(), { code: '25006' });
  await pool.query('ALTER ROLE postgres RESET default_transaction_read_only');
  await second.open();
  await save(second);
  await second.close();
});
