import { safeVerify } from '@ostiary/webhook-verifier';
import { expect, it } from 'vitest';
import { testPayment } from '../../support/partner-api.ts';
import { sink } from '../../webhooks/support/sink.ts';
import { customConsole } from '../custom-console.ts';
import { register, secret, trigger } from '../webhook-shop.ts';

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

/** Starts an endpoint that verifies signatures as a receiver does. */
async function verifying(now: () => number) {
  const endpoint = await sink(now);
  endpoint.answer = async (response, { body, headers, at }) => {
    const { ok } = await safeVerify(body, headers, { secret, now: at });
    response.writeHead(ok ? 204 : 400).end();
  };
  return endpoint;
}

it('the progress of a first run costs one storage call once it is complete', async () => {
  const options = { requestLog: 'off', webhooks: { allowPrivateTargets: true } } as const;
  const { provider, database, open } = await customConsole({ scope: null, testOnly: true }, options);
  const key = await provider.key({ mode: 'test' });
  const call = await open(key);
  const asked = async () => {
    database.forget();
    const steps = await (await call('getFirstRun')).json();
    // The first call is the session's own query.
    const [, ...calls] = database.calls.filter((name) => !/^(apiKeys|rateLimits)\./.test(name));
    return { steps, calls };
  };
  const look = ['sandbox.find', 'webhooks.list', 'events.latest', 'transfers.list'];
  const done = (isDone: boolean) => ({
    endpoint: isDone,
    event: isDone,
    signature: isDone,
    payment: isDone,
  });
  expect(await asked()).toEqual({ steps: done(false), calls: look });
  const receiver = await verifying(() => provider.clock.now());
  const id = await register(provider, key, receiver.url);
  expect(await (await call('checkWebhookSignature', { path: { id } })).json()).toMatchObject({
    verdict: 'right',
    genuine: { httpStatus: 204, error: null, response: '' },
    forged: { httpStatus: 400, error: 'status' },
  });
  await trigger(provider, key);
  await provider.partnerCall(key, 'POST /v1/partner/payments', testPayment);
  expect(await asked()).toEqual({ steps: done(true), calls: [...look, 'sandbox.save'] });
  expect(await asked()).toEqual({ steps: done(true), calls: ['sandbox.find'] });
  provider.clock.advance(2 * 365 * 24 * 3600_000);
  const later = await open(key);
  expect(await (await later('getFirstRun')).json()).toEqual(done(true));
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
