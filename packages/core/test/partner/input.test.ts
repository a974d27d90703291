import { expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../src/index.ts';
import { testPayment } from '../support/partner-api.ts';
import { blamed } from './refusal.ts';
import { body as endpoint, hooks, shop, url } from './webhook-shop.ts';

const schema = z.object({ order: z.object({ id: z.string().min(3), items: z.array(z.int()) }) });
const { provider, key, register, trigger } = await shop({
  events: { 'order.shipped': { schema, example: { order: { id: 'o-1', items: [] } } } },
});
const event = await trigger();
/** Values that replace `:id` and `:event` in the paths of requests. */
const ids: Readonly<Record<string, string>> = { id: await register(), event: String(event.id) };

const send = (target: string, body?: unknown) =>
  provider.partnerCall(
    key,
    target.replaceAll(/:(\w+)/g, (_, name) => ids[name] ?? `:${name}`),
    body,
  );

/** Reads the partner's payments, endpoints, events and deliveries, to compare them before and after. */
const state = async (): Promise<string[]> => {
  const lists = ['payments', 'webhooks', 'events', `webhooks/${ids.id}/deliveries`];
  return Promise.all(lists.map(async (list) => (await send(`GET /v1/partner/${list}?`)).text));
};

const long = (length: number): string => 'é'.repeat(length);
const [pay, sandbox] = ['POST /v1/partner/payments', 'POST /v1/partner/sandbox/events'];
const recover = `POST ${hooks}/:id/recover`;
const redeliver = 'POST /v1/partner/events/:event/redeliver';
const noId = `we_${'0'.repeat(32)}`;

/** A request that is refused, with the paths of the faulty fields. */
type Refusal = readonly [target: string, body: unknown, ...paths: string[]];

const amounts = [
  ...['0', '0.00', '-1', '-1.00', '1', '1.0', '1.', '.50', '1.001', '01.00', '+1.00', '1,00', '1_000.00'],
  ...['', ' 1', ' 1.00', '1.00 ', '1.00\n', '٣', '٣.٠٠', '１.００', '1e3', '0x10.00', 'NaN', 'Infinity'],
  ...['1'.repeat(30), `${'1'.repeat(16)}.00`, 125, 125.5, 0, null, true, ['1.00'], { value: '1.00' }],
];
const currencies = ['EUR', 'htg', 'HTG ', '', 'USDT', 'constructor', '__proto__', null, 1, ['HTG']];
const kid = 'KID-TEST-APPROVED';
const twentyOne = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 'v']));
/** Lists changes that give one member of a request a wrong value, each with the path that the error names. */
const wrong = (member: string, path: string, ...values: readonly unknown[]) =>
  values.map((value): readonly [changes: object, path: string] => [{ [member]: value }, path]);

const payments = [
  ...wrong('amount', 'amount', ...amounts),
  ...wrong('currency', 'currency', ...currencies),
  ...wrong('tip', 'tip', '1.00'),
  ...wrong('recipient', 'recipient', { kid, phone: '+50937000001' }, {}, kid),
  ...wrong('recipient', 'recipient.name', { kid, name: 'Ana' }),
  ...wrong('recipient', 'recipient.kid', { kid: '' }, { kid: 'añá' }, { kid: 'k'.repeat(256) }),
  ...wrong('description', 'description', '', 'd'.repeat(141), null),
  ...wrong('reference', 'reference', 'r'.repeat(101)),
  ...wrong('metadata', 'metadata.a', { a: 1 }, { a: { b: 'c' } }, { a: 'x'.repeat(501) }),
  ...wrong('metadata', 'metadata', twentyOne),
];

/** Values that are refused both for a new endpoint and for a change of one. */
const endpoints = [
  ...wrong('id', 'id', noId),
  ...wrong('mode', 'mode', 'live'),
  ...wrong('url', 'url', 'hook', 7, '', null, `${url}/${'x'.repeat(2048)}`, 'http://a:b@127.0.0.1/'),
  ...wrong('events', 'events', [], '*', ['*', 'kyc.updated'], ['kyc.updated', '*'], ['*', '*']),
  ...wrong('events', 'events', Array(2).fill('kyc.updated'), Array(1000).fill('kyc.updated')),
  ...wrong('events', 'events.0', ['payment.created'], ['Payment.completed'], ['constructor'], [null]),
  ...wrong('events', 'events.1', ['kyc.updated', 'nope']),
  // The last two texts are long enough but worthless: spaces, and unset variables.
  ...wrong('secret', 'secret', '', long(15), long(257), 1e20, ' '.repeat(20), 'undefinedundefined'),
];

const { example: completed } = events['payment.completed'];
const { example: kyc } = events['kyc.updated'];
const sent: readonly (readonly [type: unknown, data: unknown, ...paths: string[]])[] = [
  ['payment.created', undefined, 'type'],
  ['*', undefined, 'type'],
  ['constructor', undefined, 'type'],
  [['webhook.test'], undefined, 'type'],
  ...[null, [], '{}'].map((data) => ['webhook.test', data, 'data'] as const),
  ...[undefined, 1, 'x'.repeat(501)].map((message) => ['webhook.test', { message }, 'data.message'] as const),
  ['payment.completed', { ...completed, currency: 'EUR' }, 'data.currency'],
  ['kyc.updated', { ...kyc, kycTier: 4 }, 'data.kycTier'],
  ['kyc.updated', { ...kyc, previous: { kycStatus: 'maybe', kycTier: 1 } }, 'data.previous.kycStatus'],
  ['order.shipped', { order: { id: 'o-1', items: [1, 'two'] } }, 'data.order.items.1'],
];

const times = [
  '2026-01-01',
  '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:00',
  1_767_225_600_000,
  null,
  undefined,
];
const since = '2026-01-01T00:00:00Z';

/** Invalid queries by path. The error names the first parameter of each query. */
const queries: Readonly<Record<string, readonly string[]>> = {
  payments: [
    ...['limit=0', 'limit=101', 'limit=-1', 'limit=1e1', 'limit=', 'limit=٣', 'limit=1&limit=2'],
    ...['status=done', 'status=', 'page=2', 'reference=%00', 'cursor=', 'cursor=x', '__proto__=1'],
    ...['createdFrom=yesterday', 'createdFrom=2026-01-01', 'createdTo=2026-02-30T00:00:00Z'],
    'createdFrom=2026-01-01T00:00:00.001Z&createdTo=2026-01-01T00:00:00Z',
    'createdFrom=2026-02-01T00:00:00Z&createdTo=2026-01-01T00:00:00Z&limit=1',
    'createdTo=yesterday&createdFrom=9999-12-31T23:59:59Z',
  ],
  'webhooks/:id/deliveries': [
    ...['limit=0', 'limit=101', 'limit=1e1', 'limit=', 'limit=1&limit=2', 'eventId=x', 'status=failed'],
    ...['status=', 'status=pending&status=dropped', 'cursor=', 'cursor=x', 'cursor=%00'],
    `cursor=${'A'.repeat(301)}`,
  ],
  events: [
    ...['after=-1', 'after=', 'after=01', 'after=1.5', 'after=1e3', 'after=9007199254740993', 'after=evt_1'],
    ...['after=1&after=2', 'limit=0', 'limit=101', 'cursor=x', 'type=webhook.test'],
  ],
  webhooks: ['limit=1'],
  'webhooks/:id': ['secret=1'],
  reconciliation: [
    ...['date=2026-02-30', 'date=2025-02-29', 'date=2026', 'date=2026-03', 'date=2026-3-1', 'date=20260301'],
    ...['date=2026-03-01T00:00:00Z', 'date=', 'date=٢٠٢٦-٠٣-٠١', 'date=%2B002026-03-01', 'date=0'],
    ...['date=2999-01-01', 'date=2026-03-01&from=2026-02-28', 'date=2026-03-01&date=2026-03-01'],
    ...['to=2026-03-01&from=2026-03-02', 'to=2026-04-01&from=2026-03-01', 'to=2026-04-10&from=2026-03-01'],
    ...['to=x&from=2026-03-01', 'from=2999-01-01&to=2999-01-02', 'format=xml&date=2026-03-01'],
    ...['format=&date=2026-03-01', 'day=2026-03-01'],
  ],
};

const refusals: readonly Refusal[] = [
  ...payments.map(([changes, path]) => [pay, { ...testPayment, ...changes }, path] as const),
  [pay, {}, 'amount', 'currency', 'recipient'],
  ...endpoints.flatMap(([changes, path]): Refusal[] => [
    [`POST ${hooks}`, { ...endpoint, ...changes }, path],
    [`PATCH ${hooks}/:id`, changes, path],
  ]),
  [`POST ${hooks}`, {}, 'url', 'events', 'secret'],
  [`POST ${hooks}`, { ...endpoint, enabled: false }, 'enabled'],
  [`POST ${hooks}?x=1`, endpoint, 'x'],
  [`PATCH ${hooks}/:id`, {}, ''],
  [`PATCH ${hooks}/:id`, { enabled: 'false' }, 'enabled'],
  [`PATCH ${hooks}/:id`, { enabled: null }, 'enabled'],
  [`PATCH ${hooks}/:id`, { enabled: false, secret: 'short' }, 'secret'],
  [`DELETE ${hooks}/:id`, {}],
  ...[`POST ${hooks}`, `PATCH ${hooks}/:id`, redeliver].map((target): Refusal => [target, [], '']),
  [`POST ${hooks}`, null, ''],
  ...times.map((time) => [recover, { since: time }, 'since'] as const),
  [recover, { since, until: since }, 'until'],
  ...['x', [noId], null].map((endpointId) => [redeliver, { endpointId }, 'endpointId'] as const),
  [redeliver, { endpoint: noId }, 'endpoint'],
  ...sent.map(([type, data, ...paths]) => [sandbox, { type, data }, ...paths] as const),
  [sandbox, {}, 'type'],
  [sandbox, { type: 'webhook.test', id: 'evt_1' }, 'id'],
  ...Object.entries(queries).flatMap(([list, bad]) =>
    bad.map((query): Refusal => [`GET /v1/partner/${list}?${query}`, undefined, query.split('=')[0] ?? '']),
  ),
  ['GET /v1/partner/reconciliation', undefined, 'from'],
  ['GET /v1/partner/reconciliation?from=2026-03-01', undefined, 'to'],
  ['GET /v1/partner/reconciliation?to=2026-03-01', undefined, 'from'],
];

const before = await state();

it.each(refusals.map(([target, body, ...paths]) => [target, body, paths] as const))(
  '%s with %j is refused for %j, and changes nothing',
  async (target, body, paths) => {
    expect(blamed(await send(target, body)).sort()).toEqual(paths.toSorted());
    expect(await state()).toEqual(before);
  },
);

it.each([
  ...['37000001', '+0937000001', '+509 37000001', '+509-3700-0001', '+1234567890123456', '+123456', '', '+'],
  ...['\u202a+50937000001\u202c', '+50937000001\u200f', '\u2066+50937000001', '+50937000001\u0000'],
  ...['＋50937000001', '+５０９３７００００１', '+٥٠٩٣٧٠٠٠٠٠١', '+50937000001\n'],
])('%j is no phone number, of a recipient or of a user', async (phone) => {
  const paid = await send(pay, { ...testPayment, recipient: { phone } });
  expect(blamed(paid)).toHaveLength(phone.includes('\0') ? 0 : 1);
  const found = await send(`GET /v1/partner/users/phone/${encodeURIComponent(phone)}`);
  // An empty number makes the path of a missing route.
  if (phone === '') blamed(found, 404, 'not_found');
  else expect(blamed(found)).toEqual(['phone']);
});

it('what is at the edge of these rules is taken as it is', async () => {
  for (const amount of ['0.01', '999999999999999.99', '90071992547409.93'])
    expect((await send(pay, { ...testPayment, amount })).json()).toMatchObject({ amount });
  for (const good of [long(16), long(256), '🔑'.repeat(16), 'a b\tc"d\\e\n'.repeat(2), `  ${long(14)}`])
    expect((await send(`POST ${hooks}`, { ...endpoint, secret: good })).status, good).toBe(201);
  for (const query of ['from=2026-03-01&to=2026-03-31', 'date=2024-02-29'])
    expect((await send(`GET /v1/partner/reconciliation?${query}`)).status).toBe(200);
});
