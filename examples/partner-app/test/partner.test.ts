import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Customer } from './customer.ts';
import { apiKey, json, type Script, scriptedProvider, startShop, token, transfer } from './provider.ts';

const kind: Script = {
  '/v1/oauth/token': json(200, token),
  '/v1/oauth/userinfo': json(200, { sub: 'usr_1', kid: 'K1', name: 'Ana' }),
  '/v1/partner/payments': json(201, transfer),
  '/v1/partner/payments/tr_1': json(200, { ...transfer, status: 'completed' }),
  '/v1/partner/verify': json(200, {
    valid: true,
    user: { kid: 'K1', role: '<i>member</i>', country: 'HT', kycStatus: 'approved', kycTier: 2 },
    issuedAt: '2026-01-02T03:04:05.000Z',
    expiresAt: '2026-01-02T03:09:05.000Z',
  }),
};

async function shop(changes: Script = {}, partnerApi: typeof apiKey | null = apiKey) {
  const provider = await scriptedProvider({ ...kind, ...changes });
  const customer = new Customer(await startShop(provider.origin, partnerApi));
  await customer.signIn(provider.origin);
  const send = (path: string, fields: Readonly<Record<string, string>>) =>
    customer.request(path, { method: 'POST', body: new URLSearchParams(fields) });
  /** Sends the form that the page shows. */
  const pay = async (fields: object = {}) =>
    send('/cashback', {
      amount: '5.00',
      idempotency_key: keyOf((await customer.request('/')).html),
      ...fields,
    });
  const payments = () => provider.received.filter(({ path }) => path.startsWith('/v1/partner/payments'));
  return { ...provider, customer, send, pay, payments };
}

const keyOf = (html: string): string => /name="idempotency_key" value="([^"]+)"/.exec(html)?.[1] ?? '';

describe('cashback', () => {
  test('pays the signed-in user, with a signed request and the key of the form', async () => {
    const { customer, send, payments } = await shop();
    const { html } = await customer.request('/');
    const key = keyOf(html);
    expect(key).toMatch(/^cashback-[\w-]{24}$/);
    // What a form says about the recipient counts for nothing.
    await send('/cashback', { amount: '25.00', idempotency_key: key, kid: 'K2' });
    const [request] = payments();
    expect(request?.body).toEqual({
      amount: '25.00',
      currency: 'HTG',
      recipient: { kid: 'K1' },
      description: 'Cashback',
      reference: key,
    });
    expect(request?.headers).toMatchObject({ 'x-api-key': apiKey.key, 'idempotency-key': key });
    const signature = createHmac('sha256', apiKey.signingSecret).update(JSON.stringify(request?.body));
    expect(request?.headers['x-svc-signature']).toBe(signature.digest('hex'));
    expect(Math.abs(Date.now() - Number(request?.headers['x-svc-timestamp']))).toBeLessThan(60_000);
    const after = (await customer.request('/')).html;
    expect(after).toContain('data-transfer="tr_1" data-status="pending"');
    expect(keyOf(after)).not.toBe(key);
    for (const secret of Object.values(apiKey)) expect(after).not.toContain(secret);
  });

  test('shows what became of the transfer when asked', async () => {
    const { customer, send, pay } = await shop();
    await pay();
    await send('/cashback/refresh', { id: 'tr_1' });
    expect((await customer.request('/')).html).toContain('data-status="completed"');
  });

  test('says why a transfer failed', async () => {
    const failure = { code: 'insufficient_funds', message: 'Not enough <money>.' };
    const failed = json(201, { ...transfer, status: 'failed', failure });
    const { customer, pay } = await shop({ '/v1/partner/payments': failed });
    await pay();
    expect((await customer.request('/')).html).toContain('Not enough &lt;money&gt;.');
  });

  test.each([
    ['an amount of one’s own', { amount: '5000.00' }],
    ['no amount', { amount: '' }],
    ['a key of one’s own', { idempotency_key: 'mine' }],
  ])('is not paid with %s', async (_, changes) => {
    const { payments, pay } = await shop();
    await pay(changes);
    expect(payments()).toEqual([]);
  });

  test('is not paid to strangers, and transfers of others cannot be asked for', async () => {
    const { customer, send, payments } = await shop();
    await send('/cashback/refresh', { id: 'tr_1' });
    customer.cookie = '';
    await send('/cashback', { amount: '5.00', idempotency_key: `cashback-${'a'.repeat(24)}` });
    expect(payments()).toEqual([]);
  });

  test('an error of the API is shown, and the shop goes on', async () => {
    const answer = json(409, { code: 'idempotency_conflict', message: 'Another payload.', requestId: 'r' });
    const { customer, pay } = await shop({ '/v1/partner/payments': answer });
    await pay();
    const { status, html } = await customer.request('/');
    expect(status).toBe(200);
    expect(html).toContain('Another payload. (idempotency_conflict');
  });

  test('is not offered without an API key', async () => {
    const { customer, send, received } = await shop({}, null);
    expect((await customer.request('/')).html).not.toContain('id="cashback"');
    await send('/cashback', { amount: '5.00', idempotency_key: `cashback-${'a'.repeat(24)}` });
    expect((await send('/verify', { token: 'a' })).html).toContain('no API key');
    expect(received.filter(({ path }) => path.startsWith('/v1/partner'))).toEqual([]);
  });
});

describe('verifying a passport', () => {
  test('shows whose it is, and keeps the token out of the answer', async () => {
    const { send, received } = await shop();
    const { status, html } = await send('/verify', { token: ' the.passport.token\r\n' });
    expect(status).toBe(200);
    expect(received.at(-1)?.body).toEqual({ token: 'the.passport.token' });
    expect(html).toContain('&lt;i&gt;member&lt;/i&gt;');
    expect(html).not.toContain('the.passport.token');
  });

  test('says why it is refused', async () => {
    const expired = json(422, { code: 'token_expired', message: 'Older than five minutes.', requestId: 'r' });
    const { send } = await shop({ '/v1/partner/verify': expired });
    const { status, html } = await send('/verify', { token: 'old' });
    expect(status).toBe(422);
    expect(html).toContain('token_expired');
    expect(html).not.toContain('id="verified"');
  });
});

describe('the calls', () => {
  test('take the names of headers from the prefix of the key', async () => {
    const { send, received } = await shop({}, { ...apiKey, key: apiKey.key.replace('svc', 'acme') });
    await send('/verify', { token: 't' });
    expect(received.at(-1)?.headers).toHaveProperty('x-acme-signature');
  });

  test('are made again with the same key when a proxy fails, and pay once', async () => {
    let failures = 1;
    const { customer, payments, pay } = await shop({
      '/v1/partner/payments': () => {
        failures -= 1;
        return failures >= 0 ? { status: 502, body: '<p>' } : json(201, transfer)();
      },
    });
    await pay();
    expect((await customer.request('/')).html).toContain('5.00 HTG are on their way to you.');
    expect(payments()).toHaveLength(2);
    expect(new Set(payments().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  test.each([
    ['no JSON', { status: 200, body: '<p>' }, 'unexpected_answer'],
    ['an error without a code', { status: 400, body: 'null' }, 'unexpected_answer'],
    ['a redirect, which is not followed with the key in hand', { status: 307, body: '' }, 'redirect'],
  ])('that are answered with %s may have paid all the same', async (_, answer, code) => {
    const { customer, pay } = await shop({ '/v1/partner/payments': () => answer });
    await pay();
    const { html } = await customer.request('/');
    expect(html).toContain(code);
    expect(html).toContain('It may have been paid all the same.');
  });
});
