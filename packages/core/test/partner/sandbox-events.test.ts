import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../src/index.ts';
import { storages } from '../support/partner-api.ts';
import type { TestKey } from '../support/provider.ts';
import { sink } from '../webhooks/support/sink.ts';
import { deliveries, register, webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';

const target = 'POST /v1/partner/sandbox/events';
const hostTypes = {
  'order.shipped': {
    summary: 'An order was shipped.',
    schema: z.object({ order: z.object({ id: z.string().min(3), items: z.array(z.int()) }) }),
    example: { order: { id: 'o-1', items: [1, 2] } },
  },
};

async function shop(options: Parameters<typeof webhookProvider>[0] = {}) {
  const { provider } = await webhookProvider({ events: hostTypes, ...options });
  const key = await provider.key({ mode: 'test' });
  const send = (body: unknown, by: TestKey = key) => provider.partnerCall(by, target, body);
  const published = async (by: TestKey = key) =>
    (await provider.partnerCall(by, 'GET /v1/partner/events')).json().data as unknown[];
  return { provider, key, send, published };
}

describe.each(storages)('a sandbox event, on %s', (_name, newStorage) => {
  it.each([...Object.entries(events), ...Object.entries(hostTypes)])(
    '%s carries its example, which fits its own schema, and reaches the test endpoints',
    async (type, { example, schema }) => {
      const { provider, key, send, published } = await shop({ storage: newStorage() });
      const endpoint = await sink();
      const id = await register(provider, key, endpoint.url, { events: [type] });
      const live = await provider.key({ partner: key.partner });
      const liveId = await register(provider, live, `${endpoint.url}/live`);
      const answer = await send({ type });
      expect([answer.status, answer.json()]).toEqual([
        201,
        {
          id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
          type,
          createdAt: new Date(provider.clock.now()).toISOString(),
          mode: 'test',
          data: example,
        },
      ]);
      expect(schema.safeParse(example).success).toBe(true);
      expect(await published()).toEqual([{ sequence: 1, ...answer.json() }]);
      await provider.ostiary.worker.runDue();
      expect(endpoint.received.map(({ path, body }) => [path, body.toString()])).toEqual([
        ['/hook', answer.text],
      ]);
      expect(endpoint.received[0]?.headers).toMatchObject({
        'content-type': 'application/json',
        'x-svc-event': type,
        'x-svc-eventid': answer.json().id,
        'x-svc-partner': key.partner,
        'x-svc-attempt': '1',
      });
      expect(await deliveries(provider, key, id)).toHaveLength(1);
      expect([await deliveries(provider, live, liveId), await published(live)]).toEqual([[], []]);
    },
  );

  it('carries the data that was given, as it was given', async () => {
    const { send, published } = await shop({ storage: newStorage() });
    const order = { id: 'ü🙂\u2028', items: [], note: { deep: [null, true, 1.5, ''] } };
    for (const [type, data] of [
      ['order.shipped', { order, more: 'of it' }],
      ['webhook.test', { message: '' }],
      ['webhook.test', { message: 'é'.repeat(500) }],
      [
        'kyc.updated',
        {
          kid: 'K',
          kycStatus: 'rejected',
          kycTier: 0,
          previous: { kycStatus: 'approved', kycTier: 3 },
          changedAt: '2026-01-01T00:00:00Z',
        },
      ],
    ] as const) {
      const answer = await send({ type, data });
      expect([answer.status, answer.json().data]).toEqual([201, data]);
    }
    expect(await published()).toHaveLength(4);
  });

  it.each<readonly [string, unknown, readonly string[]]>([
    ['no type', {}, ['type']],
    ['an unknown type', { type: 'payment.created' }, ['type']],
    ['every type', { type: '*' }, ['type']],
    ['a type that every object has', { type: 'constructor' }, ['type']],
    ['a type of another kind', { type: ['webhook.test'] }, ['type']],
    ['a member more', { type: 'webhook.test', id: 'evt_1' }, ['id']],
    ['data that are null', { type: 'webhook.test', data: null }, ['data']],
    ['data that are a list', { type: 'webhook.test', data: [] }, ['data']],
    ['data that are text', { type: 'webhook.test', data: '{}' }, ['data']],
    ['data without what they need', { type: 'webhook.test', data: {} }, ['data.message']],
    ['data of another type', { type: 'webhook.test', data: { message: 1 } }, ['data.message']],
    ['long data', { type: 'webhook.test', data: { message: 'x'.repeat(501) } }, ['data.message']],
    [
      'a transfer in an unknown currency',
      { type: 'payment.completed', data: { ...events['payment.completed'].example, currency: 'EUR' } },
      ['data.currency'],
    ],
    [
      'a tier that there is not',
      { type: 'kyc.updated', data: { ...events['kyc.updated'].example, kycTier: 4 } },
      ['data.kycTier'],
    ],
    [
      'something wrong far inside',
      {
        type: 'kyc.updated',
        data: { ...events['kyc.updated'].example, previous: { kycStatus: 'maybe', kycTier: 1 } },
      },
      ['data.previous.kycStatus'],
    ],
    [
      'something wrong in a list of a host’s type',
      { type: 'order.shipped', data: { order: { id: 'o-1', items: [1, 'two'] } } },
      ['data.order.items.1'],
    ],
  ])('with %s is refused, and nothing is published', async (_name2, body, paths) => {
    const { send, published } = await shop({ storage: newStorage() });
    expect(blamed(await send(body))).toEqual(paths);
    expect(await published()).toEqual([]);
  });
});

describe('sandbox events', () => {
  it.each(['events', 'passports'])('%s: a live key is told that a test key is needed', async (resource) => {
    const { provider, published } = await shop();
    const live = await provider.key();
    for (const body of [{}, { type: 'webhook.test' }, 'no JSON']) {
      const answer = await provider.partnerCall(live, `POST /v1/partner/sandbox/${resource}`, body);
      expect(blamed(answer, 404, 'not_found')).toEqual([]);
      expect(answer.json().message).toMatch(/needs a test key/);
    }
    expect(await published(live)).toEqual([]);
  });

  it('of types that the host did not register are unknown', async () => {
    const { send } = await shop({ events: {} });
    expect(blamed(await send({ type: 'order.shipped' }))).toEqual(['type']);
  });

  it('move no money and tell nobody of a user: their data are all there is', async () => {
    const { provider, rail } = await webhookProvider();
    const key = await provider.key({ mode: 'test' });
    await provider.partnerCall(key, target, { type: 'payment.completed' });
    await provider.ostiary.worker.runDue();
    expect(rail.orders).toEqual([]);
    const { data } = (await provider.partnerCall(key, 'GET /v1/partner/payments')).json();
    expect(data).toEqual([]);
  });
});
