import { expect, it } from 'vitest';
import { partnerProvider, payment, testPayment } from '../../support/partner-api.ts';
import { blamed } from '../refusal.ts';
import { shop } from '../webhook-shop.ts';

it('a payment goes to a user by public id or phone number, and is shown as it was initiated', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key();
  const pay = (body: object) => provider.partnerCall(key, 'POST /v1/partner/payments', body);
  const byKid = await pay({ ...payment, reference: 'order 7', metadata: { table: '3' } });
  const createdAt = new Date(provider.clock.now()).toISOString();
  expect([byKid.status, byKid.json()]).toEqual([
    201,
    {
      ...{ id: expect.stringMatching(/^tr_/), status: 'pending', mode: 'live' },
      ...{ amount: payment.amount, currency: payment.currency, recipient: payment.recipient },
      ...{ description: null, reference: 'order 7', metadata: { table: '3' } },
      ...{ failure: null, createdAt, updatedAt: createdAt, completedAt: null },
    },
  ]);
  const byPhone = await pay({ ...payment, recipient: { phone: '+50937000001' } });
  expect([byPhone.status, byPhone.json().recipient]).toEqual([201, payment.recipient]);
  const shown = await provider.partnerCall(key, `GET /v1/partner/payments/${byKid.json().id}`);
  expect([shown.status, shown.json()]).toEqual([200, byKid.json()]);
});

it('a payment to a user who does not exist, and one that is unknown, are not found', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key();
  const call = (target: string, body?: object) => provider.partnerCall(key, target, body);
  const nobody = await call('POST /v1/partner/payments', { ...payment, recipient: { kid: 'KID-NOBODY' } });
  expect(blamed(nobody, 404, 'not_found')).toEqual([]);
  const unknown = await call(`GET /v1/partner/payments/tr_${'0'.repeat(32)}`);
  expect(blamed(unknown, 404, 'not_found')).toEqual([]);
});

it('a reference belongs to one payment of a partner and mode', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key();
  const sandbox = await provider.key({ partner: key.partner, mode: 'test' });
  const pay = (by: typeof key, body: object) => provider.partnerCall(by, 'POST /v1/partner/payments', body);
  const first = await pay(key, { ...payment, reference: 'r' });
  const second = await pay(key, { ...payment, reference: 'r' });
  expect([second.status, second.json().details]).toEqual([
    409,
    [{ path: 'reference', message: first.json().id }],
  ]);
  expect((await pay(sandbox, { ...testPayment, reference: 'r' })).status).toBe(201);
});

it('payments are listed by status, reference and creation, in any time zone', async () => {
  const { call, key, database } = await shop();
  const at = Date.parse('2026-03-01T12:00:00.123Z');
  const far = encodeURIComponent('2026-03-01T13:30:00.123+01:30');
  const none = { status: null, reference: null, from: null, to: null };
  for (const [query, filter] of [
    ['', {}],
    [`reference=${encodeURIComponent('a&b = ü')}`, { reference: 'a&b = ü' }],
    ['status=completed', { status: 'completed' }],
    ['createdFrom=2026-03-01T12:00:00.123Z', { from: at }],
    // A range may be empty, but must not run backwards.
    [`createdFrom=${far}&createdTo=${far}`, { from: at, to: at }],
  ] as const) {
    database.forget();
    expect((await call(`GET /v1/partner/payments?${query}`)).status).toBe(200);
    const asked = database.given[database.calls.indexOf('transfers.list')];
    expect(asked).toMatchObject([{ partner: key.partner, mode: 'test', ...none, ...filter }]);
  }
});
