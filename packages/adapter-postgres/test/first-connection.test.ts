import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startNetwork } from '../../../lab/support/network.ts';
import { Database } from '../src/database.ts';
import { postgresStorage } from '../src/index.ts';
import { openPool } from '../src/opened-pool.ts';
import { hostPool, schemaNames, serverForTests } from './server.ts';

const server = serverForTests();

const urlAt = (port: number) => server.url.replace(`:${server.port}/`, `:${port}/`);

/** Makes the message that a server sends before it ends a connection. */
function fatal(code: string, message: string): Buffer {
  const fields = `SFATAL\0VFATAL\0C${code}\0M${message}\0\0`;
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}

const notYet = fatal('57P03', 'the database system is starting up');
const farewell = fatal('57P01', 'terminating connection due to administrator command');

/** Last bytes of a database server's greeting, after which it accepts a statement. */
const welcome = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/**
 * Treatment of a new connection by the proxy: the proxy passes the connection on, sends another message, or ends
 * the connection in the same packet as the server's greeting.
 */
type Treatment = 'let through' | 'ended at birth' | Buffer;

/** Starts a proxy in front of the database server, which decides about each new connection. */
async function gate(treat: (count: number) => Treatment = () => 'let through') {
  let count = 0;
  const sockets = new Set<Socket>();
  const door: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    count += 1;
    const treatment = treat(count);
    if (typeof treatment !== 'string') {
      socket.once('data', () => socket.end(treatment));
      return;
    }
    const onward = connect(server.port, '127.0.0.1');
    onward.on('error', () => undefined);
    socket.on('data', (data) => onward.write(data));
    onward.on('data', (data) => {
      const isWelcome = data.subarray(-welcome.length).equals(welcome);
      if (treatment === 'let through' || !isWelcome) return void socket.write(data);
      socket.end(Buffer.concat([data, farewell]));
      onward.destroy();
    });
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroySoon());
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    door.close();
  });
  return {
    async listen(port = 0): Promise<number> {
      door.listen(port, '127.0.0.1');
      await once(door, 'listening');
      const address = door.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      return address.port;
    },
    close: () => new Promise((resolve) => door.close(resolve)),
    count: () => count,
  };
}

/** Schema that the first test creates. The tests concern only what happens until a connection exists. */
const schema = schemaNames()();

/**
 * Opens a storage on the database at the given URL, with its own pool or a host application's. The pool is
 * closed at the end of the test.
 */
function storageAt(url: string, whose = 'its own') {
  const pool = whose === 'its own' ? null : hostPool(url);
  const storage = postgresStorage({
    schema,
    ...(pool === null ? { connectionString: url } : { pool }),
  });
  onTestFinished(async () => {
    await storage.close();
    await pool?.end();
  });
  return storage;
}

/** Returns a port on which nothing listens. */
async function closedPort(): Promise<number> {
  const door = await gate();
  const port = await door.listen();
  await door.close();
  return port;
}

test('a database that refuses connections at first is waited for', async () => {
  const port = await closedPort();
  const storage = storageAt(urlAt(port));
  const opening = storage.open();
  await pause(300);
  await (await gate()).listen(port);
  await opening;
  await storage.ping();
});

test('a database that says it is starting is waited for', async () => {
  const door = await gate((count) => (count <= 2 ? notYet : 'let through'));
  const storage = storageAt(urlAt(await door.listen()));
  await storage.open();
  expect(door.count()).toBeGreaterThan(2);
  await storage.ping();
});

test.each([
  ['08001', 'pooler cannot connect'],
  ['08006', 'server connection failed'],
  // PgBouncer uses this code for every error.
  ['08P01', 'server login has been failing, try again later (server_login_retry)'],
  ['08P01', 'no more connections allowed (max_client_conn)'],
  ['53300', 'sorry, too many clients already'],
  ['53300', 'too many connections for role "ostiary"'],
  ['57P01', 'terminating connection due to administrator command'],
  ['57P02', 'terminating connection because of crash of another server process'],
  ['57P03', 'the database system is shutting down'],
])('a call waits for a server that refuses connections with %s: %s', async (code, message) => {
  let refused = 0;
  let isRefusing = false;
  const door = await gate(() => {
    if (!isRefusing || refused === 3) return 'let through';
    refused += 1;
    return fatal(code, message);
  });
  const pool = hostPool(urlAt(await door.listen()));
  const storage = postgresStorage({ schema, pool });
  onTestFinished(async () => {
    await storage.close();
    await pool.end();
  });
  await storage.open();
  // End the idle connection, so that the next call needs a new one.
  const [client] = await Promise.all([pool.connect()]);
  client.release(true);
  isRefusing = true;
  await storage.ping();
  expect(refused).toBe(3);
});

test.each(['its own', 'the host’s'])(
  'a database that takes connections of %s pool and keeps silent is waited for, longer than any call',
  async (whose) => {
    const network = await startNetwork(server.port);
    network.cut();
    const storage = storageAt(urlAt(network.port), whose);
    // Closed before the pool: it waits for its connections, and those that lost packets never end otherwise.
    onTestFinished(() => network.close());
    const reasons: string[] = [];
    const opening = storage.open(({ message }) => reasons.push(message));
    await expect.poll(() => reasons.length, { timeout: 5_000 }).toBeGreaterThan(0);
    network.mend();
    await opening;
    expect(reasons[0]).toMatch(/^the PostgreSQL database /);
    await storage.ping();
  },
);

test('one that never comes up is given up in time, with what it said last', async () => {
  const url = urlAt(await closedPort());
  const pool = () => openPool(url, 1_500);
  const database = new Database({ schema: server.nextSchema(), pool, firstTimeoutMs: 600 });
  onTestFinished(() => database.close());
  await expect(database.open()).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: expect.stringMatching(/did not come up within 600 ms: .*ECONNREFUSED/),
  });
});

test('who closes the storage meanwhile does not wait for the database', async () => {
  const storage = storageAt(urlAt(await closedPort()));
  const opening = expect(storage.open()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  const start = performance.now();
  await storage.close();
  await opening;
  expect(performance.now() - start).toBeLessThan(5_000);
});

test.each([
  ['a wrong password', (url: string) => url.replace(':postgres@', ':wrong@'), '28P01'],
  ['an unknown database', (url: string) => url.replace(/\/[^/]*$/, '/nowhere'), '3D000'],
] as const)('%s is told at once', async (_name, change, code) => {
  const door = await gate();
  const url = change(urlAt(await door.listen()));
  const storage = storageAt(url);
  await expect(storage.open()).rejects.toMatchObject({ cause: { code } });
  expect(door.count()).toBe(1);
});

test.each([
  ['a host name that nobody knows', Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })],
  ['a pool that was ended', new Error('Cannot use a pool after calling end on the pool')],
  ['a certificate that is not trusted', Object.assign(new Error('x'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })],
])('%s is told at once', async (_name, error) => {
  let count = 0;
  const connect = async () => {
    count += 1;
    throw error;
  };
  const storage = postgresStorage({ pool: { connect }, schema: server.nextSchema() });
  await expect(storage.open()).rejects.toMatchObject({ cause: error });
  expect(count).toBe(1);
});

// An unhandled error event would end the process. Here it fails the test.
test.each(['its own', 'the host’s'])(
  'a connection of %s pool that is ended at its birth is replaced',
  async (whose) => {
    const door = await gate((count) => (count <= 2 ? 'ended at birth' : 'let through'));
    const storage = storageAt(urlAt(await door.listen()), whose);
    await storage.open();
    expect(door.count()).toBeGreaterThan(2);
    await storage.ping();
  },
);
