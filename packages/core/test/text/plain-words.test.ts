import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inOneLine, inPlainWords, problemsOf } from '../../src/text/plain-words.ts';
import { blamed } from '../partner/refusal.ts';
import { webhookProvider } from '../partner/webhook-shop.ts';
import { payment } from '../support/partner-api.ts';
import { expectPlain } from '../support/plain-words.ts';

const hostType = {
  schema: z.object({ orderId: z.string(), at: z.iso.datetime() }),
  example: { orderId: 'o', at: '2026-01-01T00:00:00Z' },
};

const { provider } = await webhookProvider({ events: { 'order.shipped': hostType } });
const key = await provider.key({ mode: 'test' });

/** Schemas with many kinds of check, such as options and requests have. */
const checks: readonly z.ZodType[] = [
  ...[z.string().min(1).max(3), z.int().min(1), z.number().gt(0).lt(1), z.boolean(), z.date(), z.null()],
  ...[z.enum(['a', 'b']), z.literal('a'), z.iso.datetime(), z.url(), z.string().regex(/^a$/)],
  ...[z.array(z.string()).min(1).max(2), z.tuple([z.string()]), z.strictObject({ a: z.string() })],
  ...[
    z.record(z.string().min(1), z.string()),
    z.union([z.string(), z.int(), z.strictObject({ a: z.int() })]),
  ],
  ...[z.custom((value) => value === 'a'), z.instanceof(Uint8Array), z.never(), z.map(z.string(), z.string())],
];
/** Values that programs and JSON may contain, of which a schema accepts only few. */
const values: readonly unknown[] = [
  ...[undefined, null, true, 0, -1, 1.5, 1e20, Number.NaN, Number.POSITIVE_INFINITY, 10n, Symbol('wrong')],
  ...[
    '',
    ' ',
    'wrong',
    'x'.repeat(5_000),
    [],
    [null],
    ['a', 'b', 'c'],
    {},
    { wrong: 1 },
    { '': '' },
    { a: {} },
  ],
  ...[() => 'wrong', new Date(Number.NaN), new Map([[1, 2]]), new Uint8Array(3)],
];

// Other tests show that all checks use these texts: `blamed` of the partner API, the options, the
// administration.
it('a refused value is described in plain words, for every check and value', () => {
  let refused = 0;
  for (const check of checks) {
    for (const value of values) {
      const { error } = check.safeParse(value, inPlainWords);
      if (error === undefined) continue;
      refused += 1;
      expectPlain(inOneLine(problemsOf(error.issues), 'argument'), `${check.def.type} ${typeof value}`);
    }
  }
  expect(refused).toBeGreaterThan(checks.length * 15);
});

it('what is said of a value is said once for each field, and of alternatives in one breath', async () => {
  const { admin } = provider.ostiary;
  const name = Array.from({ length: 200 }, () => 'n') as never;
  await expect(admin.partners.create({ slug: 'a-slug', name })).rejects.toThrow(/^name: has to be a string$/);
  const details = { a: () => 'wrong' } as never;
  const kinds = 'a string, or a number, or true or false, or null, or a list, or an object';
  const recording = async () => admin.audit.record({ action: 'a.b', target: 't', details });
  await expect(recording()).rejects.toThrow(new TypeError(`details.a: has to be ${kinds}`));
});

describe('what the partner API says of a wrong field', () => {
  it.each([
    ['POST /v1/partner/payments', {}, / at amount: is missing$/],
    ['POST /v1/partner/payments', [], /: has to be an object$/],
    ['POST /v1/partner/payments', 'no JSON', /^The body is not valid JSON\.$/],
    ['GET /v1/partner/users/phone/50937000001', undefined, / at phone: .*E\.164/],
  ])('is in the message too, for those who read no details: %s %j', async (target, body, message) => {
    expect((await provider.partnerCall(key, target, body)).json().message).toMatch(message);
  });

  it('reads well behind the name of the field', async () => {
    const pay = 'POST /v1/partner/payments';
    const trigger = 'POST /v1/partner/sandbox/events';
    const redeliver = `POST /v1/partner/events/evt_${'0'.repeat(32)}/redeliver`;
    for (const [target, body, line] of [
      [pay, { ...payment, amount: undefined }, 'amount is missing'],
      [pay, { ...payment, amount: 125 }, 'amount has to be a string'],
      [pay, { ...payment, currency: 'EUR' }, 'currency has to be one of HTG, USD'],
      [pay, { ...payment, description: '' }, 'description is empty'],
      [pay, { ...payment, description: 'd'.repeat(141) }, 'description has to have at most 140 characters'],
      [pay, { ...payment, metadata: { a: 1 } }, 'metadata.a has to be a string'],
      [pay, { ...payment, metadata: { '': 'x' } }, 'metadata. its name is empty'],
      [pay, { ...payment, metadata: [] }, 'metadata has to be an object'],
      [pay, { ...payment, tip: '1.00' }, 'tip is not a known field'],
      ['POST /v1/partner/sandbox/passports', { expired: 'yes' }, 'expired has to be true or false'],
      // The same holds for schemas of a host's library.
      [
        trigger,
        { type: 'order.shipped', data: { orderId: 7, at: hostType.example.at } },
        'data.orderId is not what order.shipped carries there',
      ],
      [redeliver, { endpointId: 'x' }, 'endpointId has to be the id of a webhook endpoint, we_…'],
      [
        'GET /v1/partner/payments?createdFrom=yesterday',
        undefined,
        'createdFrom has to be a time such as 2026-01-31T12:00:00Z or 2026-01-31T07:00:00-05:00',
      ],
      [
        'GET /v1/partner/payments?createdFrom=2026-01-31T12:00:00+02:00',
        undefined,
        'createdFrom has a space for the + of its offset: write %2B in a URL',
      ],
    ] as const) {
      const answer = await provider.partnerCall(key, target, body);
      blamed(answer);
      const details = answer.json().details as { path: string; message: string }[];
      expect(details.map(({ path, message }) => `${path} ${message}`)).toEqual([line]);
    }
  });
});
