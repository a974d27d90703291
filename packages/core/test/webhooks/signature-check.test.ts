import { safeVerify } from '@ostiary/webhook-verifier';
import { expect, it } from 'vitest';
import type { SignatureCheck } from '../../src/console.ts';
import { customConsole } from '../partner/custom-console.ts';
import { hooks, register, secret, url } from '../partner/webhook-shop.ts';
import { type Sink, sink } from './support/sink.ts';

/**
 * Starts a provider with a partner in test mode, and returns a call that checks the signature verification of
 * an endpoint.
 */
async function checker() {
  const { provider, open } = await customConsole(
    { scope: 'webhooks', testOnly: true },
    { webhooks: { allowPrivateTargets: true } },
  );
  const key = await provider.key({ mode: 'test' });
  const call = await open(key);
  return {
    ...{ provider, key },
    check: (id: string) => call('checkWebhookSignature', { path: { id } }),
    register: (to: string) => register(provider, key, to),
  };
}

/** Checks the signature of a webhook as a receiver does. */
const isGenuine = async ({ body, headers, at }: Sink['received'][number]): Promise<boolean> =>
  (await safeVerify(body, headers, { secret, now: at })).ok;

it.each<[SignatureCheck['verdict'], (genuine: boolean) => number]>([
  ['right', (genuine) => (genuine ? 204 : 400)],
  ['takes_forged', () => 204],
  ['fails_at_forged', (genuine) => (genuine ? 204 : 500)],
  ['refuses_genuine', () => 401],
])('%s is what the statuses of an endpoint mean', async (verdict, statusFor) => {
  const { check, register, provider } = await checker();
  const endpoint = await sink(() => provider.clock.now());
  endpoint.answer = async (response, delivery) =>
    void response.writeHead(statusFor(await isGenuine(delivery))).end();
  const result: SignatureCheck = await (await check(await register(endpoint.url))).json();
  expect([result.verdict, result.genuine.httpStatus, result.forged.httpStatus]).toEqual([
    verdict,
    statusFor(true),
    statusFor(false),
  ]);
  const sent = await Promise.all(endpoint.received.map(isGenuine));
  expect(sent.toSorted()).toEqual([false, true]);
  // A check is no event: nothing is stored, and nothing is sent again.
  await provider.ostiary.worker.runDue();
  expect(endpoint.received).toHaveLength(2);
});

it('an endpoint that does not respond has no verdict about its signatures', async () => {
  const { check, register } = await checker();
  const result = await (await check(await register(url))).json();
  expect(result).toMatchObject({ verdict: 'no_answer', genuine: { httpStatus: null } });
});

it('a disabled endpoint and an unknown one are not checked', async () => {
  const { provider, key, check, register } = await checker();
  const endpoint = await sink();
  const id = await register(endpoint.url);
  await provider.partnerCall(key, `PATCH ${hooks}/${id}`, { enabled: false });
  expect((await check(id)).status).toBe(400);
  expect((await check(`we_${'0'.repeat(32)}`)).status).toBe(404);
  expect(endpoint.received).toEqual([]);
});

it('an inbox verifies signatures as receivers have to, and shows both requests', async () => {
  const { provider, key, check, register } = await checker();
  const id = await register('inbox:200');
  expect(await (await check(id)).json()).toMatchObject({
    verdict: 'right',
    genuine: { httpStatus: 200 },
    forged: { httpStatus: 400 },
  });
  const { data } = (await provider.partnerCall(key, `GET ${hooks}/${id}/requests`)).json();
  const errors = (data as { readonly signatureError: string | null }[]).map((one) => one.signatureError);
  expect(new Set(errors)).toEqual(new Set([null, 'signature_mismatch']));
});
