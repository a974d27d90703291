import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { postgresStorage } from '../src/index.ts';
import { openPool } from '../src/pool.ts';
import { frozenProxy } from './frozen-proxy.ts';
import { hostPool, serverForTests } from './server.ts';

const server = serverForTests();

const urlAt = (port: number) => server.url.replace(`:${server.port}/`, `:${port}/`);

/** What a server says while it is starting. */
function notYet(): Buffer {
  const fields = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}

/** A gate in front of the server; as long as `answer` says something, that is all that a connection gets. */
async function gate(answer: (count: number) => Buffer | null) {
  let count = 0;
  const sockets = new Set<Socket>();
  const door: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    count += 1;
    const said = answer(count);
    if (said !== null) {
      socket.once('data', () => socket.end(said));
      return;
    }
    const onward = connect(server.port, '127.0.0.1');
    onward.on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
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

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const door = await gate(() => null);
  const port = await door.listen();
  await door.close();
  return port;
}

test('a database that refuses connections at first is waited for', async () => {
  const port = await closedPort();
  const storage = postgresStorage({ connectionString: urlAt(port), schema: server.nextSchema() });
  onTestFinished(() => storage.close());
  const opening = storage.open();
  await pause(300);
  await (await gate(() => null)).listen(port);
  await opening;
  await storage.ping();
});

test('a database that says it is starting is waited for', async () => {
  const door = await gate((count) => (count <= 2 ? notYet() : null));
  const storage = postgresStorage({
    connectionString: urlAt(await door.listen()),
    schema: server.nextSchema(),
  });
  onTestFinished(() => storage.close());
  await storage.open();
  expect(door.count()).toBeGreaterThan(2);
  await storage.ping();
});

test.each(['its own', 'the host’s'])(
  'a database that takes connections of %s pool and keeps silent is waited for, longer than any call',
  async (whose) => {
    const proxy = await frozenProxy(server.port);
    proxy.freeze();
    const url = urlAt(proxy.port);
    const pool = whose === 'its own' ? null : hostPool(url);
    const storage = postgresStorage({
      schema: server.nextSchema(),
      ...(pool === null ? { connectionString: url } : { pool }),
    });
    onTestFinished(async () => {
      await storage.close();
      // A pool waits for its connections under way, and those that lost something are under way for long.
      await proxy.close();
      await pool?.end();
    });
    const opening = storage.open();
    await pause(1_800);
    proxy.thaw();
    await opening;
    await storage.ping();
  },
);

test('one that never comes up is given up in time, with what it said last', async () => {
  const url = urlAt(await closedPort());
  const pool = () => openPool(url, 1_500);
  const database = new Database({ schema: server.nextSchema(), pool, firstPatienceMs: 600 });
  onTestFinished(() => database.close());
  await expect(database.open()).rejects.toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    message: expect.stringMatching(/did not come up within 600 ms: .*ECONNREFUSED/),
  });
});

test('who closes the storage meanwhile does not wait for the database', async () => {
  const storage = postgresStorage({
    connectionString: urlAt(await closedPort()),
    schema: server.nextSchema(),
  });
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
  const door = await gate(() => null);
  const url = change(urlAt(await door.listen()));
  const storage = postgresStorage({ connectionString: url, schema: server.nextSchema() });
  onTestFinished(() => storage.close());
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
