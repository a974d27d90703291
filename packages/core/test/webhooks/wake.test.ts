import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { shop as open } from '../partner/webhook-shop.ts';
import { ana } from '../support/directory.ts';
import { payment, testPayment } from '../support/partner-api.ts';
import { sink } from './support/sink.ts';

const pay = 'POST /v1/partner/payments';

/** A worker that runs, whose timers never fire: whatever is delivered was delivered because somebody said so. */
async function shop() {
  const given = await open({
    webhooks: { retryDelaysSeconds: [] },
    events: { 'order.shipped': { schema: z.object({}), example: {} } },
  });
  const { provider, rail, key, register } = given;
  rail.answer = async ({ amount }) => ({ status: amount === 100n ? 'completed' : 'pending' });
  const live = await provider.key({ partner: key.partner });
  const endpoint = await sink();
  let status = 204;
  let news = () => {};
  endpoint.answer = (response) => {
    response.writeHead(status).end();
    news();
  };
  const id = await register(endpoint.url, { events: ['*'] });
  await register(endpoint.url, { events: ['*'] }, live);
  return {
    ...{ ...given, live, id },
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
    /** Jobs are woken by a timer of no time. */
    jobs: () => vi.advanceTimersByTimeAsync(0),
  };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
afterEach(() => void vi.useRealTimers());

const kycChange = {
  ...{ sub: ana.sub, kid: 'KID-ANA', kycStatus: 'approved', kycTier: 1 },
  previous: { kycStatus: 'pending', kycTier: 1 },
} as const;

type Shop = Awaited<ReturnType<typeof shop>>;
type Cause = (made: Shop) => Promise<unknown>;

/** What somebody does, by the type of the event that has to arrive. */
const causes: readonly (readonly [what: string, type: string, Cause])[] = [
  ['a sandbox event', 'webhook.test', ({ trigger }) => trigger()],
  [
    'an event of the host’s own',
    'order.shipped',
    ({ provider, key: { partner } }) =>
      provider.ostiary.events.publish({ partner, type: 'order.shipped', data: {} }),
  ],
  [
    'a change of an identity check',
    'kyc.updated',
    ({ provider, key: { partner } }) =>
      provider.ostiary.users.kycChanged({ ...kycChange, partners: [partner] }),
  ],
  [
    'a transfer that the rail completed',
    'payment.completed',
    async ({ call, live, jobs }) => {
      await call(pay, { ...payment, amount: '1.00' }, live);
      await jobs();
    },
  ],
  [
    'a transfer that the sandbox refused',
    'payment.failed',
    async ({ call, jobs }) => {
      await call(pay, { ...testPayment, amount: '1.01' });
      await jobs();
    },
  ],
  [
    'a settlement',
    'payment.completed',
    async ({ provider, call, live }) => {
      const { id } = (await call(pay, payment, live)).json();
      await provider.ostiary.payments.settle(String(id), { status: 'completed' });
    },
  ],
  [
    'an event that is delivered again',
    'webhook.test',
    async ({ call, trigger, arrived, work }) => {
      const { id } = await trigger();
      await arrived(1);
      await work();
      await call(`POST /v1/partner/events/${id}/redeliver`, {});
      await arrived(2);
    },
  ],
  [
    'a recovery',
    'webhook.test',
    async ({ call, trigger, id, arrived, answerWith, work }) => {
      answerWith(500);
      await trigger();
      await arrived(1);
      await work();
      await call(`POST /v1/partner/webhooks/${id}/recover`, { since: '2020-01-01T00:00:00Z' });
      await arrived(2);
    },
  ],
];

it.each(causes)('a running worker is told of %s', { timeout: 30_000 }, async (_what, type, cause) => {
  const made = await shop();
  made.provider.ostiary.worker.start();
  // What is there from the beginning has been looked for.
  await made.work();
  await cause(made);
  expect((await made.arrived(1))[0]).toBe(type);
});
