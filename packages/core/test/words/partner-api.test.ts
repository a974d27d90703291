import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../src/index.ts';
import { descriptionOf, operationsOf } from '../support/openapi.ts';
import { payment } from '../support/partner-api.ts';
import { webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { expectPlain, spoiled, wrongJson } from './wrong.ts';

type Detail = { readonly path: string; readonly message: string };

const hostType = {
  schema: z.object({ orderId: z.string(), at: z.iso.datetime() }),
  example: { orderId: 'o', at: '2026-01-01T00:00:00Z' },
};

const { provider } = await webhookProvider({ events: { 'order.shipped': hostType } });
const key = await provider.key({ mode: 'test' });

/** Sends what is wrong and reads what is said of it; what turns out right says nothing. */
async function said(target: string, body?: unknown): Promise<Detail[]> {
  const answer = await provider.partnerCall(key, target, body);
  if (answer.status < 400) return [];
  expect.soft([400, 404], `${target} ${answer.text}`).toContain(answer.status);
  const { message, details = [] } = answer.json() as { message: string; details?: Detail[] };
  for (const text of [message, ...details.map((detail) => detail.message)])
    expectPlain(text, `${target} ${JSON.stringify(body)?.slice(0, 200)}`);
  return details;
}

/** What is right, so that only one field at a time is wrong. */
const webhook = { url: 'http://127.0.0.1:9/hook', events: ['kyc.updated'], secret: 'a secret of sixteen' };
const bodies: { readonly [target: string]: object } = {
  'POST /v1/partner/payments': { ...payment, description: 'd', reference: 'r', metadata: { a: 'b' } },
  'POST /v1/partner/verify': { token: 't' },
  'POST /v1/partner/webhooks': webhook,
  'PATCH /v1/partner/webhooks/{id}': { ...webhook, enabled: true },
  'POST /v1/partner/webhooks/{id}/recover': { since: '2026-01-01T00:00:00Z' },
  'POST /v1/partner/events/{id}/redeliver': { endpointId: `we_${'0'.repeat(32)}` },
  'POST /v1/partner/sandbox/passports': { kid: 'KID-TEST-APPROVED', expired: false },
  'POST /v1/partner/sandbox/events': { type: 'webhook.test', data: { message: 'm' } },
};

const withIds = (path: string): string =>
  path
    .replace('{id}', path.includes('/webhooks/') ? `we_${'0'.repeat(32)}` : `evt_${'0'.repeat(32)}`)
    .replace('{phone}', '+50937000001')
    .replace('{kid}', 'KID-ANA');

describe('what the partner API says of a wrong field', () => {
  it('names it in plain words: every field of every body, with values of every kind', async () => {
    const described = operationsOf(await descriptionOf(provider)).flatMap(({ method, path, operation }) =>
      operation.requestBody === undefined ? [] : [`${method} ${path}`],
    );
    // A new endpoint belongs into the table above.
    expect(described.sort()).toEqual(Object.keys(bodies).sort());
    let blamed = 0;
    for (const [target, right] of Object.entries(bodies)) {
      for (const body of wrongJson) await said(withIds(target), body);
      for (const [path, body] of spoiled(right, wrongJson)) {
        const details = await said(withIds(target), body);
        blamed += details.length;
        for (const { path: named, message } of details) {
          const isNamed = path.startsWith(named) || named.startsWith(path.split('.')[0] ?? '');
          expect.soft(isNamed, `${target} ${path}: ${named} ${message}`).toBe(true);
        }
      }
    }
    expect(blamed).toBeGreaterThan(400);
  }, 60_000);

  it('names it in plain words: every parameter of every query and path', async () => {
    const numbers = ['0', '-1', '1.5', '1e20', '37000001'];
    const wrong = ['', ' ', 'wrong', 'x'.repeat(400), '2026-13-45T00:00:00Z', ...numbers];
    let blamed = 0;
    for (const { method, path, operation } of operationsOf(await descriptionOf(provider))) {
      const own = operation.parameters.filter(({ in: place }) => place !== 'header');
      for (const { name, in: place } of [...own, { name: 'surplus', in: 'query' }]) {
        // One end of a range is wrong because the other one is missing.
        const meant = ['from', 'to'].includes(name) ? ['from', 'to'] : [name];
        for (const value of wrong) {
          if (place === 'path' && value === '') continue;
          const text = encodeURIComponent(value);
          const target =
            place === 'path' ? path.replace(`{${name}}`, text) : `${withIds(path)}?${name}=${text}`;
          const details = await said(`${method} ${target}`, bodies[`${method} ${path}`]);
          blamed += details.length;
          const isNamed = details.length === 0 || details.some((detail) => meant.includes(detail.path));
          expect.soft(isNamed, target).toBe(true);
        }
      }
    }
    expect(blamed).toBeGreaterThan(150);
  }, 60_000);

  it('names what is wrong in the data of an event, also where the library of the host checks it', async () => {
    const examples = { ...events, 'order.shipped': hostType };
    let blamed = 0;
    for (const [type, { example }] of Object.entries(examples)) {
      const few = [null, 1.5, 'wrong', [], 'x'.repeat(600)];
      for (const [path, data] of spoiled(example, few)) {
        const details = await said('POST /v1/partner/sandbox/events', { type, data });
        blamed += details.length;
        for (const detail of details) expect.soft(`data.${path}`, type).toContain(detail.path);
      }
    }
    expect(blamed).toBeGreaterThan(100);
    const shipped = { type: 'order.shipped', data: { orderId: 7, at: 'now' } };
    const message = 'is not what order.shipped carries there';
    expect(await said('POST /v1/partner/sandbox/events', shipped)).toEqual([
      { path: 'data.orderId', message },
    ]);
  }, 60_000);

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
    const redeliver = withIds('POST /v1/partner/events/{id}/redeliver');
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
      [redeliver, { endpointId: 'x' }, 'endpointId has to be the id of a webhook endpoint, we_…'],
      [
        'GET /v1/partner/payments?createdFrom=yesterday',
        undefined,
        'createdFrom has to be a time in UTC such as 2026-01-31T12:00:00Z',
      ],
    ] as const) {
      const details = await said(target, body);
      expect(details.map(({ path, message }) => `${path} ${message}`)).toEqual([line]);
    }
  });
});
