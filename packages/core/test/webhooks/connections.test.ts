import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { dial } from '../../src/webhooks/dial.ts';
import { createTargetLimits } from '../../src/webhooks/target-limits.ts';
import { TargetError } from '../../src/webhooks/targets.ts';
import { certificate, privateKey } from './support/target-certificate.ts';
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

  it('goes to another address of the host when the first does not listen', async () => {
    const server = await serve(accepts, { host: '127.0.0.1' });
    const resolve = async () => ['127.0.0.9', '::1', '127.0.0.1'];
    const answer = await send(newClient({ resolve }), `http://receiver.example:${server.port}/`);
    expect(answer).toMatchObject({ ok: true });
    expect(server.requests[0]?.head).toContain(`host: receiver.example:${server.port}`);
  });

  it.each([
    ['IPv6', '::1', ['127.0.0.6', '127.0.0.7', '127.0.0.8', '127.0.0.9', '::1']],
    ['IPv4', '127.0.0.1', [...Array.from({ length: 8 }, () => '::1'), '127.0.0.1']],
  ])('goes to the only living address, which is of %s', async (_family, host, addresses) => {
    const server = await serve(accepts, { host });
    const client = newClient({ resolve: async () => addresses });
    expect(await send(client, `http://receiver.example:${server.port}/`)).toMatchObject({ ok: true });
  });

  it('that reached another address of the host, which is full, sends nothing', async () => {
    const targets = createTargetLimits();
    const places = await Promise.all(Array.from({ length: 64 }, () => targets.enter('::1', '')));
    const client = newClient({ targets, resolve: async () => ['127.0.0.2', '::1'] });
    const only = await serve(accepts, { host: '::1' });
    const post = () =>
      client.post({ url: `http://both.example:${only.port}/`, headers: {}, body: '', owner: '' });
    expect(await post()).toBe(null);
    expect(only.requests).toHaveLength(0);
    places[0]?.leave();
    expect(await post()).toMatchObject({ ok: true });
    expect(only.requests).toHaveLength(1);
  });

  it('tries eight addresses at most', async () => {
    const dead = Array.from({ length: 8 }, (_, number) => `127.0.1.${number + 1}`);
    const server = await serve(accepts, { host: '127.0.0.1' });
    const client = (addresses: string[]) => newClient({ resolve: async () => addresses });
    const url = `http://receiver.example:${server.port}/`;
    expect(await send(client([...dead.slice(1), '127.0.0.1']), url)).toMatchObject({ ok: true });
    expect(await send(client([...dead, '127.0.0.1']), url)).toMatchObject({ error: 'connection_refused' });
  });

  it('is refused by a port on which no server listens', async () => {
    const { server, post } = await pair(() => undefined);
    await server.close();
    expect(await post()).toMatchObject({ ok: false, error: 'connection_refused' });
  });

  it('to an address that is not the allowed one is closed before a byte is sent', async () => {
    const server = await serve(() => undefined, { host: '127.0.0.1' });
    const bytes = vi.fn();
    const isAllowed = vi.fn(() => false);
    const url = new URL(`https://receiver.example:${server.port}/`);
    const dialled = dial(url, ['127.0.0.1'], {
      isAllowed,
      secureContext: () => {
        throw new Error('TLS was asked for');
      },
      signal: new AbortController().signal,
    });
    await expect(dialled).rejects.toThrow(TargetError);
    await vi.waitUntil(() => server.sockets.length === 1, patient);
    server.sockets[0]?.on('data', bytes);
    await vi.waitUntil(() => server.sockets[0]?.destroyed, patient);
    expect(isAllowed.mock.calls).toEqual([['127.0.0.1']]);
    expect(bytes).not.toHaveBeenCalled();
  });
});

describe('TLS', () => {
  const tls = { cert: certificate, key: privateKey };
  const resolve = async () => ['127.0.0.1'];
  const trusting = () => newClient({ resolve, connect: { ca: certificate } });
  const answer: RawAnswer = (socket) => socket.write(response(200, 'safe'));

  it('asks for the name of the host although its address is dialled, and keeps the connection', async () => {
    const names: string[] = [];
    const server = await serve(answer, {
      tls: {
        ...tls,
        SNICallback: (name, done) => {
          names.push(name);
          done(null);
        },
      },
    });
    const client = trusting();
    const url = `https://receiver.example:${server.port}/`;
    expect(await send(client, url)).toMatchObject({ ok: true, response: 'safe' });
    expect(await send(client, url)).toMatchObject({ ok: true });
    expect(names).toEqual(['receiver.example']);
    expect(server.sockets).toHaveLength(1);
  });

  it('accepts the certificate of an address, and refuses that of another name, and an untrusted one', async () => {
    const server = await serve(answer, { tls });
    const to = (host: string) => `https://${host}:${server.port}/`;
    expect(await send(trusting(), to('127.0.0.1'))).toMatchObject({ ok: true });
    const [wrong, stranger] = [{ ok: false, error: 'certificate' }, newClient({ resolve })];
    expect(await send(trusting(), to('127.0.0.2'))).toMatchObject(wrong);
    expect(await send(trusting(), to('another.example'))).toMatchObject(wrong);
    expect(await send(stranger, to('receiver.example'))).toMatchObject(wrong);
    expect(server.requests).toHaveLength(1);
  });

  it('with a server without TLS, or one that disconnects in the middle, is a failure of TLS', async () => {
    const plain = await serve(() => undefined);
    const sending = send(trusting(), `https://127.0.0.1:${plain.port}/`);
    await vi.waitUntil(() => plain.sockets.length === 1, patient);
    plain.sockets[0]?.write(response(400, 'https, please'));
    expect(await sending).toMatchObject({ error: 'tls' });

    const leaving = send(trusting(), `https://127.0.0.1:${plain.port}/`);
    await vi.waitUntil(() => plain.sockets.length === 2, patient);
    plain.sockets[1]?.destroy();
    expect(await leaving).toMatchObject({ error: 'tls' });
  });

  it('that never ends is over with the deadline', async () => {
    const silent = await serve(() => undefined);
    const client = newClient({ timeoutMs: 50 });
    expect(await send(client, `https://127.0.0.1:${silent.port}/`)).toMatchObject({ error: 'timeout' });
    await vi.waitUntil(() => silent.sockets[0]?.destroyed, patient);
  });
});
