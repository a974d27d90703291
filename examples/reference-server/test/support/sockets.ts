import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';

export async function talk(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/**
 * Sends the head of a form with the body missing (`handle=a`), so that a request is certainly in progress.
 */
export async function halfSent(port: number): Promise<Socket> {
  const socket = await talk(port);
  socket.write(
    [
      'POST /login HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 8',
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  );
  expect(String((await once(socket, 'data'))[0])).toContain('100 Continue');
  return socket;
}
