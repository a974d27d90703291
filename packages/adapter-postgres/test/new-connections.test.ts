import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStorage } from '../src/index.ts';
import { hostPool, serverForTests } from './server.ts';

const server = serverForTests();

/** The last bytes of a server's welcome: it is ready for a statement. */
const welcome = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** What a server sends to a connection that it ends. */
function farewell(): Buffer {
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}

/** A way to the server on which the next connections are ended in one packet with their welcome. */
async function unwelcoming(target: number) {
  let left = 0;
  let ended = 0;
  const proxy = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    let isNew = true;
    socket.on('data', (data) => onward.write(data));
    onward.on('data', (data) => {
      const isWelcome = isNew && data.subarray(-welcome.length).equals(welcome);
      if (isWelcome) isNew = false;
      if (!isWelcome || left === 0) return void socket.write(data);
      left -= 1;
      ended += 1;
      socket.end(Buffer.concat([data, farewell()]));
      onward.destroy();
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  onTestFinished(() => void proxy.close());
  return {
    url: server.url.replace(`:${target}/`, `:${address.port}/`),
    end: (count: number) => {
      left = count;
    },
    ended: () => ended,
  };
}

// An error that nobody listens to ends the process: here it fails the test.
test.each(['its own', 'the host’s'])(
  'a connection of %s pool that is ended at its birth is replaced',
  async (whose) => {
    const way = await unwelcoming(server.port);
    const pool = whose === 'its own' ? null : hostPool(way.url);
    const where = pool === null ? { connectionString: way.url } : { pool };
    const storage = postgresStorage({ schema: server.nextSchema(), ...where });
    onTestFinished(async () => {
      await storage.close();
      await pool?.end();
    });
    way.end(2);
    await storage.open();
    expect(way.ended()).toBe(2);
    await storage.ping();
  },
);
