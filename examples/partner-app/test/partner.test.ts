import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { apiKey, json, keyOf, openShop, type Script } from './support.ts';

/** Opens a shop with a signed-in customer. */
async function shop(script: Script = {}, partnerApi: typeof apiKey | null = apiKey) {
  const opened = await openShop(script, { partnerApi });
  await opened.customer.signIn(opened.iss);
  const calls = (prefix = '/v1/partner') => opened.received.filter(({ path }) => path.startsWith(prefix));
  return { ...opened, calls };
}

describe('cashback', () => {
  test('pays the signed-in user, with a signed request and the key of the form', async () => {
    const { customer, calls } = await shop();
    const key = keyOf(await customer.page());
    expect(key).toMatch(/^cashback-[\w-]{24}$/);
    // The recipient in a form is ignored.
    await customer.send('/cashback', { amount: '25.00', idempotency_key: key, kid: 'K2' });
    const { body = {}, headers = {} } = calls()[0] ?? {};
    expect(body).toEqual({
      amount: '25.00',
      currency: 'HTG',
      recipient: { kid: 'K1' },
      description: 'Cashback',
      reference: key,
    });
    const signature = createHmac('sha256', apiKey.signingSecret).update(JSON.stringify(body)).digest('hex');
    const own = { 'x-api-key': apiKey.key, 'idempotency-key': key, 'x-svc-signature': signature };
    expect(headers).toMatchObject(own);
    expect(Math.abs(Date.now() - Number(headers['x-svc-timestamp']))).toBeLessThan(60_000);
    const after = await customer.page();
    expect(after).toContain('data-transfer="tr_1" data-status="pending"');
    expect(keyOf(after)).not.toBe(key);
    for (const secret of Object.values(apiKey)) expect(after).not.toContain(secret);
    // The customer can request the state of the transfer.
    await customer.send('/cashback/refresh', { id: 'tr_1' });
    expect(await customer.page()).toContain('data-status="completed"');
  });

  test('is paid only for forms of the shop, and only to the signed-in user', async () => {
    const { customer, calls } = await shop();
    for (const changes of [{ amount: '5000.00' }, { amount: '' }, { idempotency_key: 'mine' }])
      await customer.pay({ ...changes });
    // The customer cannot request other customers' transfers.
    await customer.send('/cashback/refresh', { id: 'tr_1' });
    customer.cookie = '';
    await customer.send('/cashback', { amount: '5.00', idempotency_key: `cashback-${'a'.repeat(24)}` });
    expect(calls()).toEqual([]);
  });

  test('is not offered without an API key', async () => {
    const { customer, calls } = await shop({}, null);
    expect(await customer.page()).not.toContain('id="cashback"');
    await customer.pay({ idempotency_key: `cashback-${'a'.repeat(24)}` });
    expect((await customer.send('/verify', { token: 'a' })).html).toContain('no API key');
    expect(calls()).toEqual([]);
  });

  test('shows an error of the API, and continues to work', async () => {
    const answer = json(409, { code: 'idempotency_conflict', message: 'Another payload.', requestId: 'r' });
    const { customer } = await shop({ '/v1/partner/payments': answer });
    await customer.pay();
    const { status, html } = await customer.request('/');
    expect(status).toBe(200);
    expect(html).toContain('Another payload. (idempotency_conflict');
    expect(html).not.toContain('It may have been paid all the same.');
  });

  test('may have been paid even if the response is not JSON', async () => {
    const { customer } = await shop({ '/v1/partner/payments': () => ({ status: 200, body: '<p>' }) });
    await customer.pay();
    const html = await customer.page();
    expect(html).toContain('unexpected_answer');
    expect(html).toContain('It may have been paid all the same.');
  });
});

test('verifying a passport shows its user, and the response does not contain the token', async () => {
  const { customer, received } = await shop();
  const { status, html } = await customer.send('/verify', { token: ' the.passport.token\r\n' });
  expect(status).toBe(200);
  expect(received.at(-1)?.body).toEqual({ token: 'the.passport.token' });
  expect(html).toContain('&lt;i&gt;member&lt;/i&gt;');
  expect(html).not.toContain('the.passport.token');
});

test('verifying a passport says why it is refused', async () => {
  const expired = json(422, { code: 'token_expired', message: 'Older than five minutes.', requestId: 'r' });
  const { customer } = await shop({ '/v1/partner/verify': expired });
  const { status, html } = await customer.send('/verify', { token: 'old' });
  expect([status, html]).toEqual([422, expect.stringContaining('token_expired')]);
  expect(html).not.toContain('id="verified"');
});
