import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { storages, testPayment } from '../support/partner-api.ts';
import type { Json } from '../support/provider.ts';
import { sink } from './support/sink.ts';
import { deliveries, register, trigger, webhookProvider } from './support/webhook-provider.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

async function shop(options: Partial<OstiaryOptions> = {}) {
  const { provider } = await webhookProvider(options);
  const key = await provider.key({ mode: 'test' });
  const endpoint = await sink(() => provider.clock.now());
  const id = await register(provider, key, endpoint.url);
  const sequences = async () =>
    ((await provider.partnerCall(key, 'GET /v1/partner/events?limit=100')).json().data as Json[]).map(
      ({ sequence }) => sequence,
    );
  const statuses = async () => (await deliveries(provider, key, id)).map(({ status }) => status);
  /** Lets time pass, and the worker do what is due, the purge as well. */
  const wait = async (ms: number) => {
    provider.clock.advance(ms);
    await provider.ostiary.worker.runDue();
  };
  return { provider, key, endpoint, id, sequences, statuses, wait };
}

describe.each(storages)('what is kept, on %s', (_name, newStorage) => {
  it('events, deliveries and attempts are kept for thirty days, and not longer', async () => {
    const { provider, key, endpoint, id, sequences, statuses, wait } = await shop({ storage: newStorage() });
    await trigger(provider, key);
    await wait(0);
    expect(endpoint.received).toHaveLength(1);
    await wait(30 * day);
    expect([await sequences(), await statuses()]).toEqual([[1], ['delivered']]);
    expect((await deliveries(provider, key, id))[0]?.attempts).toHaveLength(1);
    await wait(10 * minute);
    expect([await sequences(), await statuses()]).toEqual([[], []]);
    // The endpoint stays, and goes on.
    await trigger(provider, key);
    await wait(0);
    expect([await sequences(), await statuses()]).toEqual([[2], ['delivered']]);
    expect(endpoint.received).toHaveLength(2);
  });

  it('the days are the host’s choice', async () => {
    const { provider, key, sequences, statuses, wait } = await shop({
      storage: newStorage(),
      webhooks: { allowPrivateTargets: true, retentionDays: 2 },
    });
    await trigger(provider, key);
    await wait(0);
    await wait(2 * day);
    expect([await sequences(), await statuses()]).toEqual([[1], ['delivered']]);
    await wait(10 * minute);
    expect([await sequences(), await statuses()]).toEqual([[], []]);
  });

  it('nothing that is still to be delivered goes, however old, nor what comes after it in the sequence', async () => {
    const { provider, key, endpoint, sequences, statuses, wait } = await shop({
      storage: newStorage(),
      webhooks: { allowPrivateTargets: true, retentionDays: 1, retryDelaysSeconds: [3 * 24 * 3600] },
    });
    await trigger(provider, key);
    await wait(0);
    provider.clock.advance(1);
    endpoint.answer = (response) => void response.writeHead(500).end();
    const waiting = await trigger(provider, key);
    await wait(0);
    endpoint.answer = (response) => void response.writeHead(200).end();
    provider.clock.advance(1);
    await trigger(provider, key);
    await wait(0);
    await wait(2 * day);
    // The first is gone; the second waits for its retry, and keeps the third in its place.
    expect([await sequences(), await statuses()]).toEqual([[2, 3], ['pending']]);
    await wait(1 * day);
    expect(endpoint.received.at(-1)?.body.toString()).toBe(JSON.stringify(waiting));
    await wait(10 * minute);
    expect([await sequences(), await statuses()]).toEqual([[], []]);
  });

  it('what was to go to an endpoint that is removed waits for nothing any more', async () => {
    const { provider, key, endpoint, id, sequences, wait } = await shop({ storage: newStorage() });
    await trigger(provider, key);
    await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${id}`);
    await wait(0);
    expect([endpoint.received, await sequences()]).toEqual([[], [1]]);
    await wait(30 * day + 1);
    await wait(10 * minute);
    expect(await sequences()).toEqual([]);
  });

  it('a transfer outlives its event', async () => {
    const { provider, key, sequences, wait } = await shop({ storage: newStorage() });
    const { id } = (await provider.partnerCall(key, 'POST /v1/partner/payments', testPayment)).json();
    await wait(0);
    await wait(0);
    expect(await sequences()).toEqual([1]);
    await wait(30 * day + 1);
    await wait(10 * minute);
    expect(await sequences()).toEqual([]);
    expect((await provider.partnerCall(key, `GET /v1/partner/payments/${id}`)).json()).toMatchObject({
      status: 'completed',
    });
  });

  it('what is gone cannot be delivered again, and is not recovered', async () => {
    const { provider, key, endpoint, id, wait } = await shop({
      storage: newStorage(),
      webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [] },
    });
    endpoint.answer = (response) => void response.writeHead(500).end();
    const event = await trigger(provider, key);
    await wait(0);
    await wait(30 * day + 1);
    await wait(10 * minute);
    const again = await provider.partnerCall(key, `POST /v1/partner/events/${event.id}/redeliver`, {});
    expect([again.status, again.json().code]).toEqual([404, 'not_found']);
    const since = '2020-01-01T00:00:00Z';
    const recovered = await provider.partnerCall(key, `POST /v1/partner/webhooks/${id}/recover`, { since });
    expect(recovered.json()).toEqual({ queued: 0 });
  });

  it('more than one batch goes in one run', async () => {
    const storage = newStorage();
    const { provider, key, id, wait } = await shop({ storage });
    await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${id}`);
    const now = provider.clock.now();
    const owner = { partner: key.partner, mode: 'test' as const };
    const name = (index: number) => String(index).padStart(32, '0');
    const events = Array.from({ length: 1_201 }, (_, index) => ({
      ...owner,
      id: `evt_${name(index)}`,
      type: 'webhook.test',
      body: '{}',
      createdAt: now,
      deliveryId: `dl_${name(index)}`,
    }));
    await storage.events.publish(events, { idempotency: null, now });
    const list = () => storage.events.list({ ...owner, after: 0, limit: 1 });
    await wait(30 * day);
    expect(await list()).toMatchObject({ oldestSequence: 1 });
    await wait(10 * minute);
    expect(await list()).toEqual({ events: [], oldestSequence: null });
  });
});
