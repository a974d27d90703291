import { randomBytes } from 'node:crypto';
import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import { storages } from '../support/partner-api.ts';
import { TestClock } from '../support/provider.ts';
import { type Sink, sink } from './support/sink.ts';
import { deliveries, register, secret, trigger, webhookProvider } from './support/webhook-provider.ts';

const minute = 60_000;

/** A storage that a restart finds again: the adapter is closed and its file opened anew, or it is kept. */
function unclosable(storage: Storage): Storage {
  return { ...storage, close: async () => {} };
}

describe.each(storages)('the schedule on %s', (_name, newStorage) => {
  it('makes five attempts, 1, 5, 30 and 120 minutes after the end of the one before, then drops, across restarts', async () => {
    const storage = unclosable(newStorage());
    const clock = new TestClock();
    const sealingKeys = [randomBytes(32)];
    const first = await webhookProvider({ storage, clock, sealingKeys });
    const key = await first.provider.key({ mode: 'test' });
    const endpoint: Sink = await sink(() => clock.now());
    // The endpoint takes two seconds to refuse: waits begin at the end of an attempt.
    endpoint.answer = (response) => {
      clock.advance(2_000);
      response.writeHead(503, { 'content-type': 'text/plain' }).end('not today');
    };
    const endpointId = await register(first.provider, key, endpoint.url);
    const event = await trigger(first.provider, key);

    let { provider } = first;
    const waits = [0, 1 * minute, 5 * minute, 30 * minute, 120 * minute];
    for (const [index, wait] of waits.entries()) {
      // A new process for each attempt.
      await provider.ostiary.worker.stop();
      ({ provider } = await webhookProvider({ storage, clock, sealingKeys }));
      if (wait > 0) {
        clock.advance(wait - 1);
        await provider.ostiary.worker.runDue();
        expect(endpoint.received).toHaveLength(index);
        clock.advance(1);
      }
      await provider.ostiary.worker.runDue();
      expect(endpoint.received).toHaveLength(index + 1);
      const attempt = endpoint.received[index];
      if (attempt === undefined) throw new Error('not received');
      const verified = await verify(attempt.body, attempt.headers, { secret, now: () => attempt.at });
      expect(verified).toMatchObject({ id: event.id, attempt: index + 1, type: 'webhook.test' });
      expect(attempt.body.equals(endpoint.received[0]?.body ?? Buffer.alloc(0))).toBe(true);
      // Signed for this attempt, not for the first one.
      expect(Number(attempt.headers['x-svc-timestamp'])).toBe(Math.floor(attempt.at / 1000));
    }
    clock.advance(30 * 24 * 60 * minute - 1 - 157 * minute);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(5);

    const [delivery] = await deliveries(provider, key, endpointId);
    expect(delivery).toMatchObject({ status: 'dropped', nextAttemptAt: null, eventId: event.id });
    expect(delivery?.attempts).toMatchObject(
      [1, 2, 3, 4, 5].map((number) => ({ number, httpStatus: 503, error: 'status', response: 'not today' })),
    );
    const signatures = new Set(endpoint.received.map(({ headers }) => headers['x-svc-signature']));
    expect(signatures.size).toBe(5);
  });

  it('ends with the first success, and says when the next attempt is due until then', async () => {
    const { provider } = await webhookProvider({ storage: newStorage() });
    const key = await provider.key({ mode: 'test' });
    const endpoint = await sink();
    endpoint.answer = (response) =>
      void response.writeHead(endpoint.received.length === 1 ? 500 : 202).end('ok');
    const endpointId = await register(provider, key, endpoint.url);
    await trigger(provider, key);

    const due = (await deliveries(provider, key, endpointId))[0];
    expect(due).toMatchObject({
      status: 'pending',
      attempts: [],
      nextAttemptAt: new Date(provider.clock.now()).toISOString(),
    });
    await provider.ostiary.worker.runDue();
    expect((await deliveries(provider, key, endpointId))[0]).toMatchObject({
      status: 'pending',
      nextAttemptAt: new Date(provider.clock.now() + minute).toISOString(),
      attempts: [{ number: 1, httpStatus: 500, error: 'status' }],
    });
    provider.clock.advance(minute);
    await provider.ostiary.worker.runDue();
    expect((await deliveries(provider, key, endpointId))[0]).toMatchObject({
      status: 'delivered',
      nextAttemptAt: null,
      attempts: [{ number: 1 }, { number: 2, httpStatus: 202, error: null, response: 'ok' }],
    });
    provider.clock.advance(24 * 60 * minute);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(2);
  });

  it('follows delays of the host’s own', async () => {
    const { provider } = await webhookProvider({
      storage: newStorage(),
      webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [0.5] },
    });
    const key = await provider.key({ mode: 'test' });
    const endpoint = await sink();
    endpoint.answer = (response) => void response.writeHead(410).end();
    const endpointId = await register(provider, key, endpoint.url);
    await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    provider.clock.advance(499);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(1);
    provider.clock.advance(1);
    await provider.ostiary.worker.runDue();
    expect(endpoint.received).toHaveLength(2);
    expect((await deliveries(provider, key, endpointId))[0]).toMatchObject({ status: 'dropped' });
  });
});
