import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { InboxRequest } from '@ostiary/client-sdk';
import { expect, it, onTestFinished } from 'vitest';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import { forward } from '../src/forward.ts';

/** Makes an inbox request with one header. */
const requestWith = (header: InboxRequest['headers'][number]): InboxRequest => ({
  id: `in_${'0'.repeat(32)}`,
  endpointId: 'we_1',
  receivedAt: '2030-01-01T00:00:00.000Z',
  method: 'POST',
  headers: [header],
  body: '{}',
  signatureError: null,
  answer: null,
});

/** Starts a server whose test writes the bytes of each response. */
async function rawServer(answer: (socket: Socket) => void): Promise<URL> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

it.each([
  { name: 'x-sent-by', value: 'shop\u0001' },
  { name: 'x-sent-by', value: '5 \u20ac' },
  { name: 'x sent by', value: 'shop' },
])('a header that Node refuses to send ends the attempt with an error: %o', async (header) => {
  const local = await sink();
  const answer = await forward(requestWith(header), new URL(local.url));
  expect(answer).toEqual({ error: 'connection_failed', durationMs: expect.any(Number) });
  expect(local.received).toEqual([]);
});

const partly = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok';

it.each<[string, (socket: Socket) => void]>([
  ['does not end', (socket) => void socket.write(partly)],
  ['is reset', (socket) => socket.write(partly, () => setTimeout(() => socket.resetAndDestroy(), 50))],
  ['is cut off', (socket) => void socket.end(partly)],
  [
    'is malformed',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz'),
  ],
])('the status decides, although the body %s', async (_, respond) => {
  const url = await rawServer(respond);
  const answer = await forward(requestWith({ name: 'content-length', value: '2' }), url);
  expect(answer).toEqual({ httpStatus: 200, response: expect.any(String), durationMs: expect.any(Number) });
});

it.each([
  '101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade',
  '101 Switching Protocols',
  '099 Odd\r\nContent-Length: 0',
  '600 Odd\r\nContent-Length: 0',
])('a status that is no answer ends the attempt as `protocol`: %s', async (head) => {
  const url = await rawServer((socket) => void socket.write(`HTTP/1.1 ${head}\r\n\r\n`));
  const answer = await forward(requestWith({ name: 'content-length', value: '2' }), url);
  expect(answer).toEqual({ error: 'protocol', durationMs: expect.any(Number) });
});
