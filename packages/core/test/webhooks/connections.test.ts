import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { newClient, pair, send, urlOf } from './support/target-client.ts';
import { accepts, type RawAnswer, response, serve } from './support/target-server.ts';

describe('a connection', () => {
  it('serves one request after the other, and each of several at once has its own', async () => {
    const { server, client, post } = await pair(accepts);
    for (let number = 0; number < 5; number += 1) await send(client, urlOf(server, `/${number}`));
    expect(server.sockets).toHaveLength(1);
    await Promise.all(Array.from({ length: 8 }, () => post()));
    expect(server.sockets).toHaveLength(8);
    expect(server.requests).toHaveLength(13);
  });

  it('that the server closed between two requests is replaced, and nothing is sent twice', async () => {
    const { server, post } = await pair(accepts);
    await post();
    server.sockets[0]?.end();
    await once(server.sockets[0] ?? process, 'close');
    expect(await post()).toMatchObject({ ok: true });
    // This reset is noticed while the next request waits for its turn.
    server.sockets[1]?.resetAndDestroy();
    await once(server.sockets[1] ?? process, 'close');
    expect(await post()).toMatchObject({ ok: true });
    expect(server.sockets).toHaveLength(3);
    expect(server.requests).toHaveLength(3);
  });

  it.each<[string, RawAnswer]>([
    ['ends', (socket) => socket.end()],
    ['is reset', (socket) => socket.resetAndDestroy()],
    ['ends in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  ])('that %s when the request is there fails the attempt; it is not repeated', async (_name, fail) => {
    const { server, post } = await pair((socket, request, number) =>
      (number === 2 ? fail : accepts)(socket, request, number),
    );
    await post();
    const failed = { ok: false, httpStatus: null, error: 'connection_reset' };
    expect(await post()).toMatchObject(failed);
    expect(server.requests).toHaveLength(2);
    expect(await post()).toMatchObject({ ok: true });
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ['where the answer says so', response(200, '', 'connection: close\r\n')],
    ['on which a second answer comes unasked', response(200) + response(200, 'smuggled')],
  ])('is not used again: %s', async (_where, bytes) => {
    const { server, post } = await pair((socket) => socket.write(bytes));
    for (let request = 0; request < 2; request += 1)
      expect(await post()).toMatchObject({ ok: true, response: '' });
    expect(server.sockets).toHaveLength(2);
  });

  it('whose answer came before the body was read is not used again', async () => {
    const { server, client, post } = await pair(() => undefined);
    const large = client.post({ url: urlOf(server), headers: {}, body: Buffer.alloc(50_000_000), owner: '' });
    await vi.waitUntil(() => server.sockets.length === 1, patient);
    server.sockets[0]?.pause();
    server.sockets[0]?.write(response(413, 'too much'));
    expect(await large).toMatchObject({ ok: false, httpStatus: 413, response: 'too much' });
    const next = post();
    await vi.waitUntil(() => server.requests.length === 1, patient);
    server.sockets[1]?.write(response(200));
    expect(await next).toMatchObject({ ok: true });
    expect(server.sockets).toHaveLength(2);
  });

  it.each([
    ['204', 'transfer-encoding: chunked', '0\r\n\r\n'],
    ['204', 'content-length: 2', '{}'],
    ['304', 'transfer-encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ])('is not used again after %s with %s, whose body comes later', async (status, header, late) => {
    const { server, post } = await pair((socket) => {
      socket.write(`HTTP/1.1 ${status} Whatever\r\n${header}\r\n\r\n`);
      setTimeout(() => socket.write(late), 15);
    });
    for (let request = 0; request < 3; request += 1)
      expect(await post()).toMatchObject({
        httpStatus: Number(status),
        error: status === '204' ? null : 'redirect',
      });
    expect(server.requests).toHaveLength(3);
    expect(server.sockets).toHaveLength(3);
  });

  it('is closed when it was idle for a while', async () => {
    const bytes = response(200, '', 'keep-alive: timeout=600\r\n');
    const { server, post } = await pair((socket) => socket.write(bytes), { idleMs: 20 });
    await post();
    await vi.waitUntil(() => server.sockets[0]?.destroyed, patient);
    expect(await post()).toMatchObject({ ok: true });
  });

  it('is replaced after a minute, so that a name that moved is noticed', async () => {
    let now = 0;
    const resolve = vi.fn(async () => ['127.0.0.1']);
    const options = { now: () => now, resolve };
    const { server, client } = await pair(accepts, options);
    const url = `http://receiver.example:${server.port}/`;
    for (now of [0, 30_000, 60_000]) await send(client, url);
    expect(server.sockets).toHaveLength(1);
    for (now of [60_001, 60_002]) await send(client, url);
    expect(server.sockets).toHaveLength(2);
    expect(resolve).toHaveBeenCalledTimes(2);
  });

  it('is one of a bounded number: the longest idle one goes first', async () => {
    const many = await Promise.all([serve(accepts), serve(accepts), serve(accepts)]);
    const client = newClient({ maxIdle: 2 });
    // Each connection counts once, regardless of its number of uses.
    for (const server of many) for (let use = 0; use < 3; use += 1) await send(client, urlOf(server));
    await vi.waitUntil(() => many[0]?.sockets[0]?.destroyed, patient);
    expect(many.map((server) => server.sockets[0]?.destroyed)).toEqual([true, false, false]);
  });
});
