import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { haproxy, startHaproxy } from '../../support/postgres/haproxy.ts';

if (haproxy === undefined) console.log('The test of HAProxy for Patroni is left out: there is no haproxy.');

async function portOf(server: Server, ends: AsyncDisposableStack): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts a server that sends its name, and beside it the check of a Patroni whose response the test decides. */
async function startMachine(name: string, ends: AsyncDisposableStack) {
  const machine = { isPrimary: false, asked: [] as string[] };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(name);
    ends.defer(() => void socket.destroy());
  });
  const check = createHttpServer((request, response) => {
    machine.asked.push(`${request.method} ${request.url}`);
    response.writeHead(machine.isPrimary ? 200 : 503).end();
  });
  return Object.assign(machine, { port: await portOf(server, ends), checkPort: await portOf(check, ends) });
}

test.skipIf(haproxy === undefined)(
  'HAProxy leads to the primary of Patroni, and ends connections to a server that is no longer the primary',
  async () => {
    await using ends = new AsyncDisposableStack();
    const [first, second] = [await startMachine('first', ends), await startMachine('second', ends)];
    first.isPrimary = true;
    const front = await startHaproxy(haproxy ?? '', [first, second]);
    ends.defer(() => front.stop());
    /** Connects through HAProxy. @returns the name of the server, and the end of the connection */
    async function reach() {
      const socket = connect(front.port, '127.0.0.1').on('error', () => undefined);
      ends.defer(() => void socket.destroy());
      const ended = once(socket, 'close');
      const [name] = await Promise.race([once(socket, 'data'), ended.then(() => [''])]);
      return { name: String(name), ended };
    }
    // HAProxy takes turns among all servers until its first checks end.
    const two = async () => [(await reach()).name, (await reach()).name];
    await expect.poll(two, { timeout: 10_000 }).toEqual(['first', 'first']);
    const kept = await reach();
    first.isPrimary = false;
    second.isPrimary = true;
    await kept.ended;
    await expect.poll(two, { timeout: 10_000 }).toEqual(['second', 'second']);
    expect(new Set(first.asked)).toEqual(new Set(['OPTIONS /primary']));
  },
  30_000,
);
