import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { dial } from '../../src/webhooks/dial.ts';
import { createTargetLimits } from '../../src/webhooks/target-limits.ts';
import { TargetError } from '../../src/webhooks/targets.ts';
import { certificate, privateKey } from './support/target-certificate.ts';
import { newClient, pair, send } from './support/target-client.ts';
import { accepts, type RawAnswer, response, serve } from './support/target-server.ts';

describe('a connection', () => {
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
