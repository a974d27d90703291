import { expect, it } from 'vitest';
import { testPayment } from '../support/partner-api.ts';
import { customConsole } from './custom-console.ts';
import { register, trigger, verifying } from './webhook-shop.ts';

const nothing = { endpoint: false, event: false, signature: false, payment: false };
const everything = { endpoint: true, event: true, signature: true, payment: true };

/** Starts a console for a partner in test mode, with a receiver that verifies signatures. */
async function newcomer() {
  const options = { requestLog: 'off', webhooks: { allowPrivateTargets: true } } as const;
  const given = await customConsole({ scope: null, testOnly: true }, options);
  const { provider, open } = given;
  const key = await provider.key({ mode: 'test' });
  const receiver = await verifying(() => provider.clock.now());
  /** Returns the steps that the console shows to a key of a partner. */
  const steps = async (by = key) => (await (await open(by))('getFirstRun')).json();
  return {
    ...{ ...given, key, steps },
    registered: () => register(provider, key, receiver.url),
    async checked(id: string) {
      const call = await open(key);
      const check = await (await call('checkWebhookSignature', { path: { id } })).json();
      expect(check).toMatchObject({ verdict: 'right', forged: { httpStatus: 400 } });
    },
    pay: () => provider.partnerCall(key, 'POST /v1/partner/payments', testPayment),
  };
}

it('each step of a first run is seen as soon as it is done, by its partner only', async () => {
  const { provider, key, steps, registered, checked, pay } = await newcomer();
  expect(await steps()).toEqual(nothing);
  await pay();
  expect(await steps()).toEqual({ ...nothing, payment: true });
  await trigger(provider, key);
  expect(await steps()).toEqual({ ...nothing, payment: true, event: true });
  const id = await registered();
  expect(await steps()).toEqual({ ...everything, signature: false });
  await checked(id);
  expect(await steps()).toEqual(everything);
  expect(await steps(await provider.key({ mode: 'test' }))).toEqual(nothing);
});

it('a signature check counts even after its endpoint is gone', async () => {
  const { provider, key, steps, registered, checked } = await newcomer();
  const id = await registered();
  await checked(id);
  await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${id}`);
  expect(await steps()).toEqual({ ...nothing, signature: true });
});

it('a complete first run costs one storage call, and stays complete', async () => {
  const { provider, database, key, open, steps, registered, checked, pay } = await newcomer();
  const id = await registered();
  await checked(id);
  await trigger(provider, key);
  await pay();
  const call = await open(key);
  const asked = async () => {
    database.forget();
    expect(await (await call('getFirstRun')).json()).toEqual(everything);
    // The first call is the session's own query.
    return database.calls.filter((name) => !/^(apiKeys|rateLimits)\./.test(name)).slice(1);
  };
  expect(await asked()).toEqual([
    ...['sandbox.find', 'webhooks.list', 'events.latest', 'transfers.list'],
    'sandbox.save',
  ]);
  expect(await asked()).toEqual(['sandbox.find']);
  provider.clock.advance(2 * 365 * 24 * 3600_000);
  await checked(id);
  await provider.partnerCall(key, `DELETE /v1/partner/webhooks/${id}`);
  expect(await steps()).toEqual(everything);
});
