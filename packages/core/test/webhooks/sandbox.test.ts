import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../src/index.ts';
import { blamed } from '../partner/refusal.ts';
import { shop as open } from '../partner/webhook-shop.ts';

const sandbox = 'POST /v1/partner/sandbox/events';
const ofHost = {
  'order.shipped': {
    summary: 'An order was shipped.',
    schema: z.object({ order: z.object({ id: z.string().min(3), items: z.array(z.int()) }) }),
    example: { order: { id: 'o-1', items: [1, 2] } },
  },
};

const shop = (options: Parameters<typeof open>[0] = {}, mode?: 'live') =>
  open({ events: ofHost, ...options }, mode);

describe('a sandbox event', () => {
  it.each([...Object.entries(events), ...Object.entries(ofHost)])(
    '%s carries its example, which fits its own schema, in test mode',
    async (type, { example, schema }) => {
      const { provider, key, call, list, now } = await shop();
      const live = await provider.key({ partner: key.partner });
      const answer = await call(sandbox, { type });
      const event = { id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), type, createdAt: now(), mode: 'test' };
      expect([answer.status, answer.json()]).toEqual([201, { ...event, data: example }]);
      expect(schema.safeParse(example).success).toBe(true);
      expect(await list('/v1/partner/events')).toEqual([{ sequence: 1, ...answer.json() }]);
      expect(await list('/v1/partner/events', live)).toEqual([]);
    },
  );

  it('carries the data that were given, as they were given', async () => {
    const { call, list } = await shop();
    const order = { id: 'ü🙂\u2028', items: [], note: { deep: [null, true, 1.5, ''] } };
    const previous = { kycStatus: 'approved', kycTier: 3 };
    const kyc = { kid: 'K', kycStatus: 'rejected', kycTier: 0, previous, changedAt: '2026-01-01T00:00:00Z' };
    for (const [type, data] of [
      ['order.shipped', { order, more: 'of it' }],
      ['webhook.test', { message: '' }],
      ['webhook.test', { message: 'é'.repeat(500) }],
      ['kyc.updated', kyc],
    ] as const) {
      const answer = await call(sandbox, { type, data });
      expect([answer.status, answer.json().data]).toEqual([201, data]);
    }
    expect(await list('/v1/partner/events')).toHaveLength(4);
  });

  it.each(['events', 'passports'])(
    '%s: a live key gets an error that says that a test key is needed',
    async (resource) => {
      const { call, list } = await shop({}, 'live');
      for (const body of [{}, { type: 'webhook.test' }, 'no JSON']) {
        const answer = await call(`POST /v1/partner/sandbox/${resource}`, body);
        expect(blamed(answer, 404, 'not_found')).toEqual([]);
        expect(answer.json().message).toMatch(/needs a test key/);
      }
      expect(await list('/v1/partner/events')).toEqual([]);
    },
  );
});
