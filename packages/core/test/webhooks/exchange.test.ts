import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { newClient, pair, send, urlOf } from './support/target-client.ts';
import { accepts, type RawServer, response, serve } from './support/target-server.ts';

describe('a response', () => {
  it.each([
    [200, true, null],
    [299, true, null],
    [300, false, 'redirect'],
    [399, false, 'redirect'],
    [400, false, 'status'],
    [999, false, 'status'],
  ])('with status %i: ok is %s, the error %s', async (status, ok, error) => {
    const { post } = await pair((socket) => socket.write(response(status)));
    const answer = await post();
    expect(answer).toMatchObject({ ok, httpStatus: status, error, response: '' });
  });

  it.each([301, 302, 303, 307, 308])('that redirects with status %i is not followed', async (status) => {
    const inside = await serve(accepts);
    const location = `location: ${urlOf(inside)}\r\n`;
    const server = await serve((socket) => socket.write(response(status, 'away', location)));
    expect(await send(newClient(), urlOf(server))).toMatchObject({ error: 'redirect', response: 'away' });
    expect([server.requests.length, inside.sockets.length]).toEqual([1, 0]);
  });

  it.each([204, 205])('with status %i has no body to wait for', async (status) => {
    const { server, post } = await pair((socket) =>
      socket.write(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await post()).toMatchObject({ ok: true, httpStatus: status });
    expect(await post()).toMatchObject({ ok: true });
    expect(server.sockets).toHaveLength(1);
  });

  const ok = 'HTTP/1.1 200 OK\r\n';
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const carryOn = 'HTTP/1.1 100 Continue\r\n\r\n';
  const success = { ok: true, httpStatus: 200, error: null };
  const failure = { ok: false, httpStatus: null, error: 'protocol', response: null };

  it.each<[name: string, bytes: string, expected: object]>([
    [
      'ends with the connection, as of HTTP/1.0',
      'HTTP/1.0 200 OK\r\n\r\nold',
      { ...success, response: 'old' },
    ],
    [
      'comes behind informational ones',
      hints + hints + response(200, 'made'),
      { ...success, response: 'made' },
    ],
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', failure],
    ['has no valid status', 'HTTP/1.1 2x0 OK\r\n\r\n', failure],
    ['has control characters in a header', `${ok}a: b\u0000c\r\n\r\n`, failure],
    ['has two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, failure],
    ['has a length that is no number', `${ok}content-length: -1\r\n\r\n`, failure],
    ['has headers without end', `${ok}${'a: b\r\n'.repeat(50_000)}`, failure],
    ['has one header that is too large', `${ok}a: ${'b'.repeat(70_000)}\r\n\r\n`, failure],
    [
      'has headers of 60 kB',
      `${ok}${`a: ${'b'.repeat(5_996)}\r\n`.repeat(10)}content-length: 0\r\n\r\n`,
      success,
    ],
    ['switches protocols', 'HTTP/1.1 101 OK\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', failure],
    ['switches to no protocol', 'HTTP/1.1 101 OK\r\n\r\n', failure],
    [
      'comes behind a 100 that was not asked for',
      carryOn + response(200, 'made'),
      { ...success, response: 'made' },
    ],
    [
      'comes behind interim ones of each kind',
      `${carryOn + hints + carryOn}HTTP/1.1 102 \r\nx: y\r\n\r\n${response(201, 'made')}`,
      { ...success, httpStatus: 201, response: 'made' },
    ],
    ['never comes behind a 100', carryOn, { ...failure, error: 'connection_reset' }],
    ['has an interim one without end', `HTTP/1.1 100 Continue\r\na: ${'b'.repeat(70_000)}`, failure],
    // Content after the headers has no effect.
    ['has chunks that are garbage', `${ok}transfer-encoding: chunked\r\n\r\nzz\r\n`, success],
    ['has a chunk longer than it says', `${ok}transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n`, success],
    ['has fewer bytes than it says', `${ok}content-length: 10\r\nconnection: close\r\n\r\nabc`, success],
  ])('that %s is taken for what it is', async (_name, bytes, expected) => {
    const { post } = await pair((socket) => socket.end(bytes, 'latin1'));
    expect(await post()).toMatchObject(expected);
  });

  it('comes behind interim ones byte by byte, again on a kept connection', async () => {
    const bytes = Buffer.from(carryOn + hints + response(200, 'HTTP/1.1 100 Continue\r\n\r\n'));
    const { server, post } = await pair(async (socket) => {
      for (const byte of bytes) {
        socket.write(Buffer.of(byte));
        await setImmediate();
      }
    });
    for (let request = 0; request < 3; request += 1)
      expect(await post()).toMatchObject({ ...success, response: carryOn });
    expect(server.sockets).toHaveLength(1);
  });

  it('is kept as text that every database takes', async () => {
    const bytes = Buffer.from([0x61, 0x00, 0xff, 0xed, 0xa0, 0x80, 0xc3, 0xa9]);
    const { post } = await pair((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
    const { response: text } = await post();
    expect(text).toBe('a\ufffd\ufffd\ufffd\ufffd\ufffdé');
    expect(text?.isWellFormed()).toBe(true);
  });

  it('is never inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const { post } = await pair((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    const { ok, response: text } = await post();
    expect(ok).toBe(true);
    expect(text).toBe(bomb.toString('utf8').replaceAll('\u0000', '\ufffd').slice(0, text?.length));
    expect(Buffer.byteLength(text ?? '', 'utf16le')).toBeLessThanOrEqual(2 * 16_384);
  });

  it('of exactly 16 KiB is kept whole, and the connection with it; one byte more ends both', async () => {
    const { server, post } = await pair((socket, _request, number) =>
      socket.write(response(200, 'x'.repeat(16_384 + (number > 2 ? 1 : 0)))),
    );
    for (let number = 1; number <= 4; number += 1) {
      expect((await post()).response).toBe('x'.repeat(16_384));
    }
    expect(server.sockets).toHaveLength(2);
  });

  it('without end is cut, and its connection closed', async () => {
    const chunk = `1000\r\n${'y'.repeat(4096)}\r\n`;
    const { server, post } = await pair((socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n');
      const pump = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', pump);
      pump();
    });
    const answer = await post();
    expect(answer).toMatchObject({ httpStatus: 500, error: 'status', response: 'y'.repeat(16_384) });
    await vi.waitUntil(() => server.sockets[0]?.destroyed, patient);
  });
});

describe('time', () => {
  /** Fakes the timers: time advances only when the test advances it. Sockets work as usual. */
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const received = (server: RawServer) => vi.waitUntil(() => server.requests.length > 0, patient);

  it('is over after ten seconds without an answer', async () => {
    const arrived = Promise.withResolvers<void>();
    const { server, post } = await pair(() => arrived.resolve());
    const done = vi.fn();
    const answer = post().finally(done);
    await arrived.promise;
    await vi.advanceTimersByTimeAsync(9_999);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ ok: false, httpStatus: null, error: 'timeout', response: null });
    await vi.waitUntil(() => server.sockets[0]?.destroyed, patient);
  });

  it('is not extended by every byte of the headers', async () => {
    const { server, post } = await pair((socket) => socket.write('HTTP/1.1 200 OK\r\n'));
    const answer = post();
    await received(server);
    for (let second = 0; second < 10; second += 1) {
      server.sockets[0]?.write('a: b\r\n');
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(await answer).toMatchObject({ error: 'timeout' });
  });

  it('is not spent on a body that does not come: the outcome is known', async () => {
    const bytes = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nslow';
    const { server, post } = await pair((socket) => socket.write(bytes));
    const done = vi.fn();
    const answer = post().finally(done);
    await received(server);
    await vi.waitUntil(async () => {
      await vi.advanceTimersByTimeAsync(100);
      return done.mock.calls.length > 0;
    }, patient);
    expect(await answer).toMatchObject({ ok: true, httpStatus: 200, response: 'slow' });
    await vi.waitUntil(() => server.sockets[0]?.destroyed, patient);
  });
});
