import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { newClient, pair, send, urlOf } from './support/target-client.ts';
import { accepts, response, serve } from './support/target-server.ts';

describe('a request', () => {
  it('carries the headers and the bytes that were given, and names its sender', async () => {
    const server = await serve((socket) => socket.write(response(200, 'thanks')));
    const url = urlOf(server, '/hook?a=%20b');
    const headers = { 'Content-Type': 'application/json', 'X-SVC-Attempt': '1' };
    const body = Buffer.from('{"name":"Zoé"}');
    const [durationMs, thanked] = [expect.any(Number), { error: null, response: 'thanks' }];
    expect(await newClient().post({ url, headers, body, owner: '' })).toEqual({
      ...{ ok: true, httpStatus: 200, durationMs, ...thanked },
    });
    const [request] = server.requests;
    expect(request?.head.split('\r\n')).toEqual([
      'POST /hook?a=%20b HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'connection: keep-alive',
      'user-agent: Ostiary-Webhooks/1',
      'accept: */*',
      'accept-encoding: identity',
      'Content-Type: application/json',
      'X-SVC-Attempt: 1',
      `content-length: ${body.length}`,
    ]);
    expect(request?.body).toEqual(body);
  });

  it('that cannot be written is a failure and no exception', async () => {
    const { server, client } = await pair(accepts);
    const post = (headers: Record<string, string>) =>
      client.post({ url: urlOf(server), headers, body: '', owner: '' });
    expect(await post({ 'X-A': 'a\r\nX-B: b' })).toMatchObject({ ok: false, error: 'internal' });
    expect(await post({ 'transfer-encoding': 'chunked' })).toMatchObject({ ok: false, error: 'internal' });
    expect(await post({ 'X-A': 'a' })).toMatchObject({ ok: true });
    expect(server.requests).toHaveLength(1);
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

  it('covers the resolver, whose silence is no other answer than a refusal', async () => {
    const resolve = vi.fn(() => new Promise<readonly string[]>(() => undefined));
    const answer = send(newClient({ resolve }), 'http://receiver.example/');
    await vi.waitUntil(() => resolve.mock.calls.length === 1, patient);
    await vi.advanceTimersByTimeAsync(10_000);
    const refused = { ok: false, httpStatus: null, error: 'target_refused', response: null };
    expect(await answer).toEqual({ ...refused, durationMs: 0 });
  });

  it('leaves no timer behind', async () => {
    const { client, post } = await pair(accepts, { idleMs: 60_000 });
    await post();
    await client.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('giving up', () => {
  it('while waiting for a response closes the connection', async () => {
    const { server, client, post } = await pair(() => undefined);
    const answer = post();
    await vi.waitUntil(() => server.requests.length === 1, patient);
    client.abort();
    expect(await answer).toMatchObject({ ok: false, httpStatus: null, error: 'aborted' });
    await vi.waitUntil(() => server.sockets[0]?.destroyed, patient);
  });

  it('while a name is resolved never connects', async () => {
    const found = Promise.withResolvers<readonly string[]>();
    const resolve = () => found.promise;
    const { server, client, post } = await pair(accepts, { resolve });
    const answer = send(client, `http://receiver.example:${server.port}/`);
    client.abort();
    expect(await answer).toMatchObject({ error: 'aborted' });
    found.resolve(['127.0.0.1']);
    expect(await post()).toMatchObject({ ok: true });
    expect(server.sockets).toHaveLength(1);
  });

  it('happens to everything when the client is closed', async () => {
    const silent = await serve(() => undefined);
    const kept = await serve(accepts);
    const client = newClient();
    await send(client, urlOf(kept));
    const answer = send(client, urlOf(silent));
    await vi.waitUntil(() => silent.requests.length === 1, patient);
    await client.close();
    expect(await answer).toMatchObject({ error: 'aborted' });
    expect(await send(client, urlOf(kept))).toMatchObject({ error: 'aborted' });
    for (const { sockets } of [silent, kept]) await vi.waitUntil(() => sockets[0]?.destroyed, patient);
    expect(kept.sockets).toHaveLength(1);
  });
});
