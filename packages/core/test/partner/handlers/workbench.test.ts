import { expect, it } from 'vitest';
import { testPayment } from '../../support/partner-api.ts';
import { customConsole } from '../custom-console.ts';
import { register, verifying } from '../webhook-shop.ts';

/** Starts a console for a partner in test mode, signed in with its key. */
async function bench() {
  const given = await customConsole(
    { scope: 'webhooks', testOnly: true },
    { webhooks: { allowPrivateTargets: true } },
  );
  const key = await given.provider.key({ mode: 'test' });
  const call = await given.open(key);
  const json = async (...input: Parameters<typeof call>) => (await call(...input)).json();
  return { ...given, key, call, json };
}

it('a partner checks signatures six times a minute at most', async () => {
  const { provider, key, call } = await bench();
  const id = await register(provider, key, (await verifying(() => provider.clock.now())).url);
  const check = async () => (await call('checkWebhookSignature', { path: { id } })).status;
  for (let number = 0; number < 6; number += 1) expect(await check()).toBe(200);
  expect(await check()).toBe(429);
  provider.clock.advance(60_000);
  expect(await check()).toBe(200);
});

it('the event of a payment is found once the payment is final', async () => {
  const { provider, key, json } = await bench();
  const paid = (await provider.partnerCall(key, 'POST /v1/partner/payments', testPayment)).json();
  const event = () => json('getPaymentEvent', { path: { id: String(paid.id) } });
  expect(await event()).toEqual({ event: null });
  await provider.ostiary.worker.runDue();
  expect(await event()).toMatchObject({ event: { type: 'payment.completed', data: { id: paid.id } } });
});
