import { expect, it } from 'vitest';
import { customConsole } from './custom-console.ts';

it('a console of one’s own calls operations of the partner API as a key that opens it may', async () => {
  const { provider, open } = await customConsole({ scope: null, testOnly: false });
  const key = await provider.key({ mode: 'live', scopes: ['payments:read', 'payments:write'] });
  const call = await open(key);
  const body = JSON.stringify({ amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } });
  const shown = async (...given: Parameters<typeof call>) => (await call(...given)).json();
  const made = await shown('createPayment', { body });
  expect(made).toMatchObject({ amount: '1.00', mode: 'live', status: 'pending' });
  expect(await shown('listPayments', { query: { limit: '1' } })).toEqual({ data: [made], nextCursor: null });
  expect(await shown('getPayment', { path: { id: made.id } })).toEqual(made);
  const page = { data: [made], nextCursor: null, previousCursor: null, count: 1 };
  expect(await shown('listTransfers', { query: { status: 'pending' } })).toEqual(page);
  expect(await shown('listTransfers', { query: { status: 'failed' } })).toMatchObject({ data: [], count: 0 });
  expect(await shown('getPaymentEvent', { path: { id: made.id } })).toEqual({ event: null });
  // Errors of the API are shown as pages; clients that are not browsers get them as JSON.
  const problems = [
    ['listWebhooks', {}, 403, 'lacks the scope webhooks'],
    ['getRequest', { path: { id: 'req_1' } }, 403, 'lacks the scope webhooks'],
    ['listRequests', {}, 403, 'lacks the scope webhooks'],
    ...['getReconciliation', 'downloadReconciliation', 'exportReconciliation', 'exportSpreadsheet'].map(
      (operation) => [operation, {}, 403, 'lacks the scope reconciliation:read'] as const,
    ),
    ['listTransfers', { query: { createdFrom: 'x' } }, 400, 'createdFrom'],
    ['createSandboxPassport', {}, 404, 'belongs to the sandbox'],
    ...['listSandboxUsers', 'getFirstRun', 'checkWebhookSignature', 'changeSandboxKyc'].map(
      (operation) => [operation, {}, 404, 'belongs to the sandbox'] as const,
    ),
    ['getPayment', { path: { id: 'nonsense' } }, 404, 'no such resource'],
    ['listPayments', { query: { nonsense: '1' } }, 400, 'nonsense'],
    ['createPayment', { body: '{' }, 400, 'not valid JSON'],
    ['no such operation', {}, 500, 'unexpected'],
  ] as const;
  for (const [operation, input, status, words] of problems) {
    const answer = await call(operation, input);
    expect.soft([operation, answer.status]).toEqual([operation, status]);
    expect.soft(await answer.text()).toContain(words);
  }
});

it('a console’s call with an Idempotency-Key takes effect once', async () => {
  const { provider, open } = await customConsole({ scope: null, testOnly: true });
  const key = await provider.key({ mode: 'test' });
  const call = await open(key);
  const body = JSON.stringify({ amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } });
  const pay = async (idempotencyKey: string, sent = body) =>
    call('createPayment', { body: sent, idempotencyKey });
  const ids = await Promise.all([1, 2, 3].map(async () => (await (await pay('one')).json()).id));
  expect(new Set(ids).size).toBe(1);
  expect((await (await pay('two')).json()).id).not.toBe(ids[0]);
  expect((await pay('one', body.replace('1.00', '2.00'))).status).toBe(409);
  for (const malformed of ['', 'é', 'x'.repeat(256)]) expect((await pay(malformed)).status).toBe(400);
  // The idempotency key is bound to the path, too.
  const kyc = (kid: string) =>
    call('changeSandboxKyc', { path: { kid }, body: '{"kycStatus":"pending"}', idempotencyKey: 'three' });
  expect((await kyc('KID-TEST-APPROVED')).status).toBe(200);
  expect((await kyc('KID-TEST-REJECTED')).status).toBe(409);
  // Operations without an idempotency key run again each time.
  const minted = async () =>
    (await (await call('createSandboxPassport', { body: '{}', idempotencyKey: 'one' })).json()).token;
  expect(await minted()).not.toBe(await minted());
  const list = await (await call('listPayments')).json();
  expect(list.data).toHaveLength(2);
});
