import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { ana } from '../support/directory.ts';
import { payment, testPayment } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';
import { sink } from './support/sink.ts';
import { register, trigger, webhookProvider } from './support/webhook-provider.ts';

/** A worker that runs, whose timers never fire: whatever is delivered was delivered because somebody said so. */
async function shop() {
  const { provider, rail } = await webhookProvider({
    webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [] },
    events: { 'order.shipped': { schema: z.object({}), example: {} } },
  });
  rail.answer = async ({ amount }) => ({ status: amount === 100n ? 'completed' : 'pending' });
  const live = await provider.key();
  const test = await provider.key({ partner: live.partner, mode: 'test' });
  const endpoint = await sink();
  let status = 204;
  let news = () => {};
  endpoint.answer = (response) => {
    response.writeHead(status).end();
    news();
  };
  const id = await register(provider, test, endpoint.url);
  await register(provider, live, endpoint.url);
  return {
    provider,
    live,
    test,
    id,
    /** Resolves with the types of what has arrived, when there are so many. */
    async arrived(count: number): Promise<unknown[]> {
      while (endpoint.received.length < count)
        await new Promise<void>((resolve) => {
          news = resolve;
        });
      return endpoint.received.map(({ headers }) => headers['x-svc-event']);
    },
    /** What the endpoint answers from now on. */
    answerWith(code: number) {
      status = code;
    },
  };
}

type Shop = Awaited<ReturnType<typeof shop>>;

const call = (provider: TestProvider, key: TestKey, target: string, body: object) =>
  provider.partnerCall(key, target, body);

/** Jobs are woken by a timer of no time. */
const jobs = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('a running worker is told', () => {
  it.each<readonly [string, string, (shop: Shop) => Promise<unknown>]>([
    ['of a sandbox event', 'webhook.test', ({ provider, test }) => trigger(provider, test)],
    [
      'of an event of the host’s own',
      'order.shipped',
      ({ provider, live }) =>
        provider.ostiary.events.publish({ partner: live.partner, type: 'order.shipped', data: {} }),
    ],
    [
      'of a change of an identity check',
      'kyc.updated',
      ({ provider, live }) =>
        provider.ostiary.users.kycChanged({
          sub: ana.sub,
          kid: 'KID-ANA',
          kycStatus: 'approved',
          kycTier: 1,
          previous: { kycStatus: 'pending', kycTier: 1 },
          partners: [live.partner],
        }),
    ],
    [
      'of a transfer that the rail completed',
      'payment.completed',
      async ({ provider, live }) => {
        await call(provider, live, 'POST /v1/partner/payments', { ...payment, amount: '1.00' });
        await jobs();
      },
    ],
    [
      'of a transfer that the sandbox refused',
      'payment.failed',
      async ({ provider, test }) => {
        await call(provider, test, 'POST /v1/partner/payments', { ...testPayment, amount: '1.01' });
        await jobs();
      },
    ],
    [
      'of a settlement',
      'payment.completed',
      async ({ provider, live }) => {
        const { id } = (await call(provider, live, 'POST /v1/partner/payments', payment)).json();
        await provider.ostiary.payments.settle(String(id), { status: 'completed' });
      },
    ],
    [
      'to deliver again',
      'webhook.test',
      async ({ provider, test, arrived }) => {
        const { id } = await trigger(provider, test);
        await arrived(1);
        await provider.ostiary.worker.runDue();
        await call(provider, test, `POST /v1/partner/events/${id}/redeliver`, {});
        await arrived(2);
      },
    ],
    [
      'to recover',
      'webhook.test',
      async ({ provider, test, id, arrived, answerWith }) => {
        answerWith(500);
        await trigger(provider, test);
        await arrived(1);
        await provider.ostiary.worker.runDue();
        const since = '2020-01-01T00:00:00Z';
        await call(provider, test, `POST /v1/partner/webhooks/${id}/recover`, { since });
        await arrived(2);
      },
    ],
  ])('%s', { timeout: 30_000 }, async (_name, type, cause) => {
    const made = await shop();
    made.provider.ostiary.worker.start();
    // What is there from the beginning has been looked for.
    await made.provider.ostiary.worker.runDue();
    await cause(made);
    expect((await made.arrived(1))[0]).toBe(type);
  });
});
