import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../reference-server/test/support/server.ts';
import { type ListenOptions, listen, patience } from '../src/listen.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const quick = { headersMs: 300, requestMs: 400, keepAliveMs: 200, checkMs: 50 };
/** Extra time that tests allow a slow machine, in milliseconds. */
const slackMs = 1_500;

async function serve(options: ListenOptions) {
  const server = await listen(
    { host: '127.0.0.1', port: 0 },
    (request, response) => {
      request.resume();
      request.once('end', () => response.end('here'));
    },
    options,
  );
  onTestFinished(() => server.close(0));
  return server;
}

/** Connects, sends the text `start`, and then `drip` repeatedly until the server ends the connection. */
async function dribble(port: number, start: string, drip: string) {
  const begun = performance.now();
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => undefined);
  const timer = setInterval(() => socket.write(drip), 25);
  onTestFinished(() => {
    clearInterval(timer);
    socket.destroy();
  });
  socket.write(start);
  await new Promise((resolve) => socket.once('close', resolve));
  return { received, tookMs: performance.now() - begun };
}

describe('a server that listens', () => {
  test.each([
    ['says nothing', '', '', quick.headersMs, '408'],
    ['sends empty lines', '', '\r\n', quick.headersMs, '408'],
    ['sends one byte of a header after the other', 'GET / HTTP/1.1\r\nX-Slow: ', 'x', quick.headersMs, '408'],
    ['never ends its headers', 'GET / HTTP/1.1\r\nHost: a\r\n', 'X-More: 1\r\n', quick.headersMs, '408'],
    ['sends empty lines after an answer', get, '\r\n', quick.keepAliveMs + quick.headersMs, '200'],
    ['does not go on with a second request', `${get}GET / HT`, '', quick.headersMs, '200'],
    [
      'never ends its body',
      `POST${get.slice(3, -2)}Content-Length: 9999\r\n\r\n`,
      'x',
      quick.requestMs,
      '408',
    ],
  ])('does not wait for somebody who %s', async (_, start, drip, atMostMs, status) => {
    const { port } = await serve(quick);
    const { received, tookMs } = await dribble(port, start, drip);
    expect(received).toContain(`HTTP/1.1 ${status} `);
    expect(tookMs).toBeLessThan(atMostMs + quick.checkMs + slackMs);
  });

  test('waits at most 15 s by default', () => {
    const { headersMs, requestMs, checkMs } = patience;
    expect(headersMs + checkMs).toBeLessThanOrEqual(15_000);
    expect(requestMs + checkMs).toBeLessThanOrEqual(15_000);
  });

  test('refuses what is no request with a response that arrives, however much follows, and closes the connection', async () => {
    const { port } = await serve(quick);
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    // A reset would be an error, and some proxies then lose the response.
    const closed = once(socket, 'close');
    socket.end(`FOO / HTTP/1.1\r\n\r\n${'a'.repeat(8_000_000)}`);
    await closed;
    expect(received).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });

  test('keeps an idle connection for longer than its other limits, and announces the time', async () => {
    const { port } = await serve({ ...quick, keepAliveMs: 60_000 });
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    onTestFinished(() => void socket.destroy());
    const ask = () => {
      socket.write(get);
      return new Promise<string>((resolve) => socket.once('data', resolve));
    };
    expect(await ask()).toMatch(/keep-alive: timeout=60\b/i);
    await pause(3 * (quick.requestMs + quick.checkMs));
    expect(await ask()).toContain('200 OK');
    expect(patience.keepAliveMs).toBe(75_000);
  });

  test('responds to one request after the other on a connection, for longer than its limits', async () => {
    const { port } = await serve(quick);
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    onTestFinished(() => void socket.destroy());
    const begun = performance.now();
    while (performance.now() - begun < 900) {
      socket.write(get);
      const answer = await new Promise<string>((resolve) => socket.once('data', resolve));
      expect(answer).toContain('200 OK');
    }
    expect(socket.destroyed).toBe(false);
  });

  test('responds once more on open connections when it closes, and accepts no new ones', async () => {
    const server = await serve({});
    const socket = connect(server.port, '127.0.0.1').setEncoding('latin1');
    const ask = () => {
      socket.write(get);
      return new Promise<string>((resolve) => socket.once('data', resolve));
    };
    expect(await ask()).toContain('200 OK');
    const closed = server.close(5_000, { keepsIdle: true });
    const refused = connect(server.port, '127.0.0.1');
    await expect(new Promise((_, reject) => refused.once('error', reject))).rejects.toThrow('ECONNREFUSED');
    expect(await ask()).toMatch(/200 OK[\s\S]*connection: close/i);
    await closed;
  });

  test('ends each connection after its next response while it drains, and still accepts new ones', async () => {
    const server = await serve({});
    const ask = async (socket: Socket) => {
      socket.write(get);
      return new Promise<string>((resolve) => socket.once('data', resolve));
    };
    const open = () => connect(server.port, '127.0.0.1').setEncoding('latin1');
    const before = open();
    expect(await ask(before)).toMatch(/200 OK[\s\S]*connection: keep-alive/i);
    server.drain();
    for (const socket of [before, open()]) {
      const ended = once(socket, 'end');
      expect(await ask(socket)).toMatch(/200 OK[\s\S]*connection: close/i);
      await ended;
    }
  });

  test('closes a connection above the limit without a response, logs it, and accepts the next one when there is room', async () => {
    let refused = 0;
    const { port } = await serve({ maxConnections: 2, onRefused: () => (refused += 1) });
    const open = (): Promise<Socket> =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1');
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => undefined);
        socket.once('connect', () => resolve(socket));
      });
    /** Sends a request and returns the raw response; empty if the connection is closed. */
    const ask = (socket: Socket): Promise<string> =>
      new Promise((resolve) => {
        socket.once('data', (bytes) => resolve(bytes.toString('latin1')));
        socket.once('close', () => resolve(''));
        socket.write(get);
      });
    const first = await open();
    expect(await ask(first)).toContain('200 OK');
    expect(await ask(await open())).toContain('200 OK');
    expect(await ask(await open())).toBe('');
    expect(refused).toBe(1);
    // Existing connections stay open.
    expect(await ask(first)).toContain('200 OK');
    const gone = new Promise((resolve) => first.once('close', resolve));
    first.destroy();
    await gone;
    await expect.poll(async () => ask(await open())).toContain('200 OK');
  });
});

test('OSTIARY_MAX_CONNECTIONS limits the connections of a server, and the log says so once a minute', async () => {
  let now = Date.now();
  const { server, lines } = await startServer({ now: () => now }, { OSTIARY_MAX_CONNECTIONS: '10' });
  const refusedOf = (total: number): Promise<number> => {
    let closed = 0;
    return new Promise((resolve) => {
      for (let at = 0; at < total; at += 1) {
        const socket = connect(server.port, server.config.host);
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => undefined);
        socket.once('close', () => {
          closed += 1;
          if (closed === total - 10) resolve(closed);
        });
      }
    });
  };
  const warnings = () => lines.filter((line) => line.includes('too many connections'));
  expect(await refusedOf(13)).toBe(3);
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toContain('"maxConnections":10');
  now += 60_000;
  const again = connect(server.port, server.config.host).on('error', () => undefined);
  onTestFinished(() => void again.destroy());
  await new Promise((resolve) => again.once('close', resolve));
  expect(warnings()).toHaveLength(2);
});
