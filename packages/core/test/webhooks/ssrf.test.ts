import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhookClient } from '../../src/webhooks/client.ts';
import { checkTarget } from '../../src/webhooks/targets.ts';
import { hostileResolver, hostileTargets } from './support/target-hostile.ts';
import { type RawServer, response, startRawServer } from './support/target-server.ts';

const policy = { allowPrivate: false };

describe('a hostile target', () => {
  let listener: RawServer;
  beforeAll(async () => {
    listener = await startRawServer((socket) => socket.write(response(200)));
  });
  afterAll(async () => {
    await listener[Symbol.asyncDispose]();
  });

  const targets = hostileTargets(4);
  /** With the port of the listener, which is known only when the tests run. */
  const numbered = (index: number) => {
    const target = hostileTargets(listener.port)[index];
    if (target === undefined) throw new Error('no such target');
    return target;
  };

  it('comes in at least sixty kinds', () => {
    expect(new Set(targets.map(({ name }) => name)).size).toBe(targets.length);
    expect(targets.length).toBeGreaterThanOrEqual(60);
  });

  it.each(targets.map(({ name }, index) => ({ name, index })))(
    'is not connected to: $name',
    async ({ index }) => {
      const target = numbered(index);
      const connections = listener.sockets.length;
      const { resolve, asked } = hostileResolver(target);
      const client = createWebhookClient({ policy, resolve, timeoutMs: 2_000 });

      // Registration first, as in life: the answers of the resolver follow each other.
      const registered = await checkTarget(target.url, policy, resolve).then(
        () => 'registered',
        (error: unknown) => error,
      );
      if (target.changesLater === true) expect(registered).toBe('registered');
      else expect(registered).toMatchObject({ code: 'TARGET_REFUSED' });

      const before = asked();
      // One that turned public in between would be dialled, which is no longer about the guard.
      const again =
        target.answers?.length === 2 && target.changesLater !== true ? hostileResolver(target) : null;
      const delivering =
        again === null ? client : createWebhookClient({ policy, resolve: again.resolve, timeoutMs: 2_000 });
      expect(await delivering.post({ url: target.url, headers: {}, body: '{}' })).toEqual({
        ok: false,
        httpStatus: null,
        error: 'target_refused',
        response: null,
        durationMs: 0,
      });
      expect(again === null ? asked() - before : again.asked()).toBeLessThanOrEqual(1);
      await Promise.all([client.close(), delivering.close()]);
      expect(listener.sockets).toHaveLength(connections);
    },
  );

  it('is refused with one and the same sentence, whether its name is private, partly private or unknown', async () => {
    const messages = new Set<string>();
    for (const answers of [[['127.0.0.1']], [['93.184.216.34', '10.0.0.1']], [['::1']], [[]], undefined]) {
      const target = { name: '', url: 'https://receiver.example/', ...(answers && { answers }) };
      const error: unknown = await checkTarget(target.url, policy, hostileResolver(target).resolve).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      if (error instanceof Error) messages.add(error.message);
    }
    expect(messages).toEqual(new Set(['The host must resolve, and to public addresses only.']));
  });

  it.each([301, 302, 303, 307, 308])('is not reached by a redirect with status %i', async (status) => {
    const location = `location: http://127.0.0.1:${listener.port}/inside\r\n`;
    await using redirecting = await startRawServer((socket) =>
      socket.write(response(status, 'away', location)),
    );
    const client = createWebhookClient({ policy: { allowPrivate: true } });
    expect(
      await client.post({ url: `http://127.0.0.1:${redirecting.port}/`, headers: {}, body: '{}' }),
    ).toMatchObject({ ok: false, httpStatus: status, error: 'redirect', response: 'away' });
    await client.close();
    expect(redirecting.requests).toHaveLength(1);
    expect(listener.sockets).toHaveLength(0);
  });

  it('would be reached without the guard: the listener of these tests listens', async () => {
    const client = createWebhookClient({ policy: { allowPrivate: true } });
    expect(
      await client.post({ url: `http://[::1]:${listener.port}/`, headers: {}, body: '{}' }),
    ).toMatchObject({ ok: true });
    expect(
      await client.post({ url: `http://127.1:${listener.port}/`, headers: {}, body: '{}' }),
    ).toMatchObject({ ok: true });
    await client.close();
    expect(listener.sockets).toHaveLength(2);
  });
});
