import { expect, it } from 'vitest';
import { shop } from '../partner/webhook-shop.ts';
import { testPayment } from '../support/partner-api.ts';
import { sink } from './support/sink.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

it.each([
  [30, {}],
  [2, { retentionDays: 2 }],
])(
  'events, deliveries and attempts are kept for %i days and not longer, and transfers for ever',
  async (days, webhooks) => {
    const { provider, call, list, register, trigger, deliveries, work } = await shop({ webhooks });
    const endpoint = await sink(() => provider.clock.now());
    const id = await register(endpoint.url);
    const { id: transfer } = (await call('POST /v1/partner/payments', testPayment)).json();
    const sequences = async () => (await list('/v1/partner/events')).map(({ sequence }) => sequence);
    /** Lets time pass, and the worker do what is due, the purge as well. */
    const wait = async (ms: number) => {
      provider.clock.advance(ms);
      while ((await work()) > 0);
    };
    await wait(0);
    await trigger();
    await wait(0);
    await wait(days * day);
    expect(await sequences()).toEqual([1, 2]);
    expect(await deliveries(id)).toMatchObject([{ status: 'delivered', attempts: [{ number: 1 }] }]);
    await wait(10 * minute);
    expect([await sequences(), await deliveries(id)]).toEqual([[], []]);
    expect((await call(`GET /v1/partner/payments/${transfer}`)).json()).toMatchObject({
      status: 'completed',
    });
    // The endpoint stays, and goes on.
    await trigger();
    await wait(0);
    expect([await sequences(), await deliveries(id)]).toMatchObject([[3], [{ status: 'delivered' }]]);
  },
);
