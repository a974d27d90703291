import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { KycChange } from '../../src/index.ts';
import type { Storage, Work } from '../../src/storage.ts';
import { pauseMs } from '../../src/worker/polling.ts';
import { hooks, shop } from '../partner/webhook-shop.ts';
import { ana } from '../support/directory.ts';
import { partnerProvider, payment, testPayment } from '../support/partner-api.ts';
import { sink } from './support/sink.ts';

const pay = 'POST /v1/partner/payments';
const kycChange: KycChange = {
  sub: ana.sub,
  kid: 'KID-ANA',
  kycStatus: 'approved',
  kycTier: 1,
  previous: { kycStatus: 'pending', kycTier: 1 },
};

const realTimeout = setTimeout;

// Timers never fire in these tests, except those of the pause between two claims. So every delivery follows a notification,
// and none an interval of polling.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const stopped = setTimeout;
  const timeout = (callback: () => void, ms = 0) => (ms === pauseMs ? realTimeout : stopped)(callback, ms);
  globalThis.setTimeout = Object.assign(timeout, stopped);
});
afterEach(() => void vi.useRealTimers());

it('a running worker is notified of all deliveries', { timeout: 30_000 }, async () => {
  const { provider, rail, key, call, register, trigger, work } = await shop({
    webhooks: { retryDelaysSeconds: [] },
    events: { 'order.shipped': { schema: z.object({}), example: {} } },
  });
  rail.answer = async ({ amount }) => ({ status: amount === 100n ? 'completed' : 'pending' });
  const { events, payments, users, worker } = provider.ostiary;
  const { partner } = key;
  const live = await provider.key({ partner });
  const endpoint = await sink();
  let status = 204;
  let news = Promise.withResolvers<void>();
  endpoint.answer = (response) => {
    response.writeHead(status).end();
    news.resolve();
  };
  const id = await register(endpoint.url, { events: ['*'] });
  await register(endpoint.url, { events: ['*'] }, live);
  /** Causes an event of the given type and waits for its delivery. Earlier events were delivered before. */
  const tells = async (type: string, cause: () => Promise<unknown>) => {
    await work();
    news = Promise.withResolvers();
    await cause();
    // A timer without delay notifies the job worker.
    await vi.advanceTimersByTimeAsync(0);
    await news.promise;
    expect(endpoint.received.at(-1)?.headers['x-svc-event']).toBe(type);
  };
  worker.start();
  let sent = '';
  await tells('webhook.test', async () => {
    sent = String((await trigger()).id);
  });
  await tells('order.shipped', () => events.publish({ partner, type: 'order.shipped', data: {} }));
  await tells('kyc.updated', () => users.kycChanged({ ...kycChange, partners: [partner] }));
  await tells('payment.completed', () => call(pay, { ...payment, amount: '1.00' }, live));
  await tells('payment.failed', () => call(pay, { ...testPayment, amount: '1.01' }));
  const pending = (await call(pay, payment, live)).json();
  await tells('payment.completed', () => payments.settle(String(pending.id), { status: 'completed' }));
  await tells('webhook.test', () => call(`POST /v1/partner/events/${sent}/redeliver`, {}));
  status = 500;
  await tells('webhook.test', () => trigger());
  await tells('webhook.test', () => call(`POST ${hooks}/${id}/recover`, { since: '2020-01-01T00:00:00Z' }));
});

it('a worker is notified of work by processes without a running worker, and its own process sends no notifications', async () => {
  const [told, hearing] = [[] as Work[], new Set<(work: Work) => void>()];
  const storage: Storage = {
    ...memoryStorage(),
    // Keep the storage open for the other processes when one closes it.
    close: async () => {},
    wakeUps: {
      notify(work) {
        told.push(work);
        for (const hear of hearing) hear(work);
      },
      listen(hear) {
        hearing.add(hear);
        return () => hearing.delete(hear);
      },
    },
  };
  const shared = { storage, sealingKeys: [randomBytes(32)], webhooks: { allowPrivateTargets: true } };
  const web = await shop(shared, 'live');
  const another = await partnerProvider({ ...shared, clock: web.provider.clock });
  const { worker } = another.provider.ostiary;
  const endpoint = await sink();
  const arrived = new Promise<string>((resolve) => {
    endpoint.answer = (response, { headers }) => {
      response.writeHead(204).end();
      resolve(String(headers['x-svc-event']));
    };
  });
  await web.register(endpoint.url, { events: ['*'] });
  worker.start();
  await worker.runDue();
  await web.call(pay, payment);
  await vi.advanceTimersByTimeAsync(0);
  expect(await arrived).toBe('payment.completed');
  expect(told).toEqual(['jobs']);
  await worker.stop();
  expect(hearing.size).toBe(0);
});
