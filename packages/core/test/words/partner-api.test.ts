import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../src/index.ts';
import { payment } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';
import { webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { expectPlain, spoiled, wrongJson } from './wrong.ts';

type Detail = { readonly path: string; readonly message: string };

interface Operation {
  /** Those that every route has, headers, are references. */
  readonly parameters: readonly (
    | { readonly name: string; readonly in: string }
    | { readonly $ref: string }
  )[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } };
}

const hostType = {
  schema: z.object({ orderId: z.string(), at: z.iso.datetime() }),
  example: { orderId: 'o', at: '2026-01-01T00:00:00Z' },
};

async function shop(): Promise<{ readonly provider: TestProvider; readonly key: TestKey }> {
  const { provider } = await webhookProvider({ events: { 'order.shipped': hostType } });
  return { provider, key: await provider.key({ mode: 'test' }) };
}

/** Sends what is wrong and reads what is said of it; what turns out right says nothing. */
async function said(provider: TestProvider, key: TestKey, target: string, body?: unknown): Promise<Detail[]> {
  const answer = await provider.partnerCall(key, target, body);
  if (answer.status < 400) return [];
  expect.soft([400, 404], `${target} ${answer.text}`).toContain(answer.status);
  const { message, details = [] } = answer.json() as { message: string; details?: Detail[] };
  for (const text of [message, ...details.map((detail) => detail.message)])
    expectPlain(text, `${target} ${JSON.stringify(body)?.slice(0, 200)}`);
  return details;
}

/** What is right, so that only one field at a time is wrong. */
const bodies: { readonly [target: string]: object } = {
  'POST /v1/partner/payments': { ...payment, description: 'd', reference: 'r', metadata: { a: 'b' } },
  'POST /v1/partner/verify': { token: 't' },
  'POST /v1/partner/webhooks': {
    url: 'http://127.0.0.1:9/hook',
    events: ['kyc.updated'],
    secret: 'a secret of sixteen',
  },
  'PATCH /v1/partner/webhooks/{id}': {
    url: 'http://127.0.0.1:9/hook',
    events: ['kyc.updated'],
    secret: 'a secret of sixteen',
    enabled: true,
  },
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
    const { provider, key } = await shop();
    const document = (await provider.request('/v1/openapi.json')).json() as {
      paths: Record<string, Record<string, Operation>>;
    };
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) =>
        requestBody === undefined ? [] : [`${method.toUpperCase()} ${path}`],
      ),
    );
    // A new endpoint belongs into the table above.
    expect(described.sort()).toEqual(Object.keys(bodies).sort());
    let blamed = 0;
    for (const [target, right] of Object.entries(bodies)) {
      for (const body of wrongJson) await said(provider, key, withIds(target), body);
      for (const [path, body] of spoiled(right, wrongJson)) {
        const details = await said(provider, key, withIds(target), body);
        blamed += details.length;
        for (const detail of details)
          expect
            .soft(
              path.startsWith(detail.path) || detail.path.startsWith(path.split('.')[0] ?? ''),
              `${target} ${path}: ${JSON.stringify(detail)}`,
            )
            .toBe(true);
      }
    }
    expect(blamed).toBeGreaterThan(400);
  }, 60_000);

  it('names it in plain words: every parameter of every query and path', async () => {
    const { provider, key } = await shop();
    const document = (await provider.request('/v1/openapi.json')).json() as {
      paths: Record<string, Record<string, Operation>>;
    };
    const wrong = [
      '',
      ' ',
      '0',
      '-1',
      '1.5',
      '1e20',
      'wrong',
      'x'.repeat(400),
      '2026-13-45T00:00:00Z',
      '37000001',
    ];
    let blamed = 0;
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { parameters }] of Object.entries(methods)) {
        const own = parameters.flatMap((parameter) => ('name' in parameter ? [parameter] : []));
        for (const { name, in: place } of [...own, { name: 'surplus', in: 'query' }])
          for (const value of wrong) {
            const text = encodeURIComponent(value);
            const target =
              place === 'path' ? path.replace(`{${name}}`, text) : `${withIds(path)}?${name}=${text}`;
            if (place === 'header' || (place === 'path' && value === '')) continue;
            const details = await said(
              provider,
              key,
              `${method.toUpperCase()} ${target}`,
              bodies[`${method.toUpperCase()} ${path}`],
            );
            blamed += details.length;
            // One end of a range is wrong because the other one is missing.
            const meant = ['from', 'to'].includes(name) ? ['from', 'to'] : [name];
            if (details.length > 0)
              expect
                .soft(
                  details.some((detail) => meant.includes(detail.path)),
                  target,
                )
                .toBe(true);
          }
      }
    expect(blamed).toBeGreaterThan(150);
  }, 60_000);

  it('names what is wrong in the data of an event, also where the library of the host checks it', async () => {
    const { provider, key } = await shop();
    const examples = { ...events, 'order.shipped': hostType };
    let blamed = 0;
    for (const [type, { example }] of Object.entries(examples)) {
      const few = [null, 1.5, 'wrong', [], 'x'.repeat(600)];
      for (const [path, data] of spoiled(example, few)) {
        const details = await said(provider, key, 'POST /v1/partner/sandbox/events', { type, data });
        blamed += details.length;
        for (const detail of details) expect.soft(`data.${path}`, type).toContain(detail.path);
      }
    }
    expect(blamed).toBeGreaterThan(100);
    expect(
      await said(provider, key, 'POST /v1/partner/sandbox/events', {
        type: 'order.shipped',
        data: { orderId: 7, at: 'now' },
      }),
    ).toEqual([{ path: 'data.orderId', message: 'is not what order.shipped carries there' }]);
  }, 60_000);

  it('is in the message too, for those who read no details', async () => {
    const { provider, key } = await shop();
    const message = async (target: string, body?: unknown) =>
      (await provider.partnerCall(key, target, body)).json().message;
    expect(await message('POST /v1/partner/payments', {})).toBe(
      'The request is malformed at amount: is missing',
    );
    expect(await message('POST /v1/partner/payments', [])).toBe(
      'The request is malformed: has to be an object',
    );
    expect(await message('GET /v1/partner/users/phone/50937000001')).toMatch(
      /^The request is malformed at phone: .*E\.164/,
    );
    expect(await message('POST /v1/partner/payments', 'no JSON')).toBe('The body is not valid JSON.');
  });

  it('reads well behind the name of the field', async () => {
    const { provider, key } = await shop();
    const line = async (target: string, body?: unknown): Promise<string> =>
      (await said(provider, key, target, body)).map(({ path, message }) => `${path} ${message}`).join('; ');
    const pay = (changes: object) => line('POST /v1/partner/payments', { ...payment, ...changes });
    expect(await pay({ amount: undefined })).toBe('amount is missing');
    expect(await pay({ amount: 125 })).toBe('amount has to be a string');
    expect(await pay({ currency: 'EUR' })).toBe('currency has to be one of HTG, USD');
    expect(await pay({ description: '' })).toBe('description is empty');
    expect(await pay({ description: 'd'.repeat(141) })).toBe(
      'description has to have at most 140 characters',
    );
    expect(await pay({ metadata: { a: 1 } })).toBe('metadata.a has to be a string');
    expect(await pay({ metadata: { '': 'x' } })).toBe('metadata. its name is empty');
    expect(await pay({ metadata: [] })).toBe('metadata has to be an object');
    expect(await pay({ tip: '1.00' })).toBe('tip is not a known field');
    expect(await line('POST /v1/partner/sandbox/passports', { expired: 'yes' })).toBe(
      'expired has to be true or false',
    );
    expect(await line('GET /v1/partner/payments?createdFrom=yesterday')).toBe(
      'createdFrom has to be a time in UTC such as 2026-01-31T12:00:00Z',
    );
    expect(
      await line('POST /v1/partner/events/evt_00000000000000000000000000000000/redeliver', {
        endpointId: 'x',
      }),
    ).toBe('endpointId has to be the id of a webhook endpoint, we_…');
  });
});
