import { beforeAll, describe, expect, it } from 'vitest';
import { manyRequests, payment, TestRail } from '../support/partner-api.ts';
import { type TestKey, TestProvider } from '../support/provider.ts';
import { blamed } from './refusal.ts';

const pay = 'POST /v1/partner/payments';
let provider: TestProvider;
let key: TestKey;

beforeAll(async () => {
  provider = await TestProvider.start({ payments: new TestRail(), partnerLimits: manyRequests });
  key = await provider.key();
  return () => provider.stop();
});

const transfers = async () =>
  ((await provider.partnerCall(key, 'GET /v1/partner/payments?limit=100')).json().data as unknown[]).length;

describe('a payment that is malformed', () => {
  it.each([
    '1e3',
    '0',
    '0.00',
    '-1',
    '-1.00',
    '1',
    '1.0',
    '1.001',
    ' 1',
    ' 1.00',
    '1.00 ',
    '1.00\n',
    '٣',
    '٣.٠٠',
    '１.００',
    '1,00',
    '+1.00',
    '01.00',
    '.50',
    '1.',
    '0x10.00',
    'NaN',
    'Infinity',
    '1_000.00',
    '',
    '1'.repeat(30),
    `${'1'.repeat(16)}.00`,
    125,
    125.5,
    0,
    null,
    true,
    ['1.00'],
    { value: '1.00' },
  ])('has no amount %j', async (amount) => {
    const before = await transfers();
    expect(blamed(await provider.partnerCall(key, pay, { ...payment, amount }))).toEqual(['amount']);
    expect(await transfers()).toBe(before);
  });

  it('may have an amount from 0.01 to fifteen digits before the point', async () => {
    for (const amount of ['0.01', '999999999999999.99', '90071992547409.93']) {
      const answer = await provider.partnerCall(key, pay, { ...payment, amount });
      expect([answer.status, answer.json().amount]).toEqual([201, amount]);
    }
  });

  it.each(['EUR', 'htg', 'HTG ', '', 'USDT', 'constructor', '__proto__', null, 1, ['HTG']])(
    'has no currency %j',
    async (currency) => {
      expect(blamed(await provider.partnerCall(key, pay, { ...payment, currency }))).toEqual(['currency']);
    },
  );

  it.each([
    [{ ...payment, tip: '1.00' }, ['tip']],
    [{ ...payment, recipient: { kid: 'KID-ANA', name: 'Ana' } }, ['recipient.name']],
    [{ ...payment, recipient: { kid: 'KID-ANA', phone: '+50937000001' } }, ['recipient']],
    [{ ...payment, recipient: {} }, ['recipient']],
    [{ ...payment, recipient: 'KID-ANA' }, ['recipient']],
    [{ ...payment, recipient: { kid: '../admin' } }, ['recipient.kid']],
    [{ ...payment, recipient: { kid: 'k'.repeat(65) } }, ['recipient.kid']],
    [{ ...payment, description: '' }, ['description']],
    [{ ...payment, description: 'd'.repeat(141) }, ['description']],
    [{ ...payment, description: null }, ['description']],
    [{ ...payment, reference: 'r'.repeat(101) }, ['reference']],
    [{ ...payment, metadata: { a: 1 } }, ['metadata.a']],
    [{ ...payment, metadata: { a: { b: 'c' } } }, ['metadata.a']],
    [{ ...payment, metadata: { a: 'x'.repeat(501) } }, ['metadata.a']],
    [
      {
        ...payment,
        metadata: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 'v'])),
      },
      ['metadata'],
    ],
    [{}, ['amount', 'currency', 'recipient']],
  ])('%j is refused and the field named', async (body, paths) => {
    expect(blamed(await provider.partnerCall(key, pay, body))).toEqual(paths);
  });

  it.each([
    '37000001',
    '+0937000001',
    '+509 37000001',
    '+509-3700-0001',
    '\u202a+50937000001\u202c',
    '+50937000001\u200f',
    '\u2066+50937000001',
    '＋50937000001',
    '+５０９３７００００１',
    '+٥٠٩٣٧٠٠٠٠٠١',
    '+50937000001\u0000',
    '+50937000001\n',
    '+1234567890123456',
    '+123456',
    '',
    '+',
  ])('has no recipient with the phone %j', async (phone) => {
    const { length } = blamed(await provider.partnerCall(key, pay, { ...payment, recipient: { phone } }));
    expect(length).toBe(phone.includes('\0') ? 0 : 1);
    const look = await provider.partnerCall(key, `GET /v1/partner/users/phone/${encodeURIComponent(phone)}`);
    // Without a number there is no such path.
    if (phone === '') blamed(look, 404, 'not_found');
    else expect(blamed(look)).toEqual(['phone']);
  });
});
