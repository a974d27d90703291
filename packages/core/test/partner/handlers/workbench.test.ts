import { safeVerify } from '@ostiary/webhook-verifier';
import { expect, it } from 'vitest';
import { testPayment } from '../../support/partner-api.ts';
import { sink } from '../../webhooks/support/sink.ts';
import { ownConsole } from '../own-console.ts';
import { register, secret } from '../webhook-shop.ts';

/** Starts a console for a partner in test mode, signed in with its key. */
async function bench() {
  const given = await ownConsole(
    { scope: 'webhooks', testOnly: true },
    { webhooks: { allowPrivateTargets: true } },
  );
  const key = await given.provider.key({ mode: 'test' });
  const call = await given.open(key);
  const json = async (...input: Parameters<typeof call>) => (await call(...input)).json();
  return { ...given, key, call, json };
}

/** Starts an endpoint that verifies signatures as a receiver does. */
async function verifying(now: () => number) {
  const endpoint = await sink(now);
  endpoint.answer = async (response, { body, headers, at }) => {
    const { ok } = await safeVerify(body, headers, { secret, now: at });
    response.writeHead(ok ? 204 : 400).end();
  };
  return endpoint;
}

it('the first steps tick themselves, and stay done', async () => {
  const { provider, key, json } = await bench();
  const steps = () => json('getFirstRun');
  expect(await steps()).toEqual({ endpoint: false, event: false, signature: false, payment: false });
  const id = await register(provider, key, (await verifying(() => provider.clock.now())).url);
  expect(await steps()).toMatchObject({ endpoint: true, signature: false });
  expect(await json('checkWebhookSignature', { path: { id } })).toMatchObject({ verdict: 'right' });
  expect(await steps()).toEqual({ endpoint: true, event: false, signature: true, payment: false });
  await provider.partnerCall(key, 'POST /v1/partner/payments', testPayment);
  await provider.ostiary.worker.runDue();
  const everything = { endpoint: true, event: true, signature: true, payment: true };
  expect(await steps()).toEqual(everything);
  await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${id}`);
  expect(await steps()).toEqual(everything);
});

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
