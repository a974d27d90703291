import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../src/index.ts';
import type { Json, TestKey } from '../support/provider.ts';
import { secret } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';
import { hooks, shop as open, url } from './webhook-shop.ts';

const sandbox = 'POST /v1/partner/sandbox/events';
const ofHost = {
  'order.shipped': {
    summary: 'An order was shipped.',
    schema: z.object({ order: z.object({ id: z.string().min(3), items: z.array(z.int()) }) }),
    example: { order: { id: 'o-1', items: [1, 2] } },
  },
};
const known = [...Object.keys(events), ...Object.keys(ofHost)];

type Row = Json & { readonly id: string; readonly sequence: number };
interface EventPage {
  readonly data: readonly Row[];
  readonly hasMore: boolean;
  readonly nextAfter: number;
  readonly oldestSequence: number | null;
}

async function shop(...given: Parameters<typeof open>) {
  const [options, mode] = given;
  const all = await open({ events: ofHost, ...options }, mode);
  const page = async (query = '', by: TestKey = all.key) =>
    (await all.call(`GET /v1/partner/events${query}`, undefined, by)).json() as unknown as EventPage;
  /** Everything in the sequence, page by page. */
  const sequence = async (limit = 100, by?: TestKey) => {
    const seen: Row[] = [];
    for (let after = 0, more = true; more; ) {
      const { data, hasMore, nextAfter } = await page(`?after=${after}&limit=${limit}`, by);
      seen.push(...data);
      expect(nextAfter).toBe(data.at(-1)?.sequence ?? after);
      [after, more] = [nextAfter, hasMore];
    }
    return seen;
  };
  const times = async (count: number) => {
    const made: unknown[] = [];
    for (let index = 0; index < count; index += 1) made.push((await all.trigger()).id);
    return made;
  };
  return { ...all, page, sequence, times };
}

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);
const empty = { data: [], hasMore: false, nextAfter: 0, oldestSequence: null };

describe('the sequence of events', () => {
  it('begins empty, and goes on after a number, as far as there is something', async () => {
    const { page, sequence, times } = await shop();
    expect(await page()).toEqual(empty);
    expect(await page('?after=7')).toEqual({ ...empty, nextAfter: 7 });
    const ids = await times(30);
    const rows = await sequence();
    expect([idsOf(rows), idsOf(await sequence(7))]).toEqual([ids, ids]);
    const first = rows[0]?.sequence ?? 0;
    expect(rows.map(({ sequence: number }) => number - first)).toEqual([...rows.keys()]);
    for (const query of ['', '?after=0']) expect(idsOf((await page(query)).data)).toEqual(ids.slice(0, 25));
    const oldestSequence = rows[0]?.sequence;
    const end = rows.at(-1)?.sequence ?? 0;
    // The end is not a page more.
    const last = await page(`?after=${rows[22]?.sequence}&limit=7`);
    expect(last).toEqual({ data: rows.slice(23), hasMore: false, nextAfter: end, oldestSequence });
    for (const after of [end, end + 1, 999_999_999_999_999])
      expect(await page(`?after=${after}`)).toEqual({ ...empty, nextAfter: after, oldestSequence });
  });
});

describe('a sandbox event', () => {
  it.each([...Object.entries(events), ...Object.entries(ofHost)])(
    '%s carries its example, which fits its own schema, in test mode',
    async (type, { example, schema }) => {
      const { provider, key, call, sequence, now } = await shop();
      const live = await provider.key({ partner: key.partner });
      const answer = await call(sandbox, { type });
      const event = { id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), type, createdAt: now(), mode: 'test' };
      expect([answer.status, answer.json()]).toEqual([201, { ...event, data: example }]);
      expect(schema.safeParse(example).success).toBe(true);
      expect(await sequence()).toEqual([{ sequence: expect.any(Number), ...answer.json() }]);
      expect(await sequence(100, live)).toEqual([]);
    },
  );

  it('carries the data that were given, as they were given', async () => {
    const { call, sequence } = await shop();
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
    expect(await sequence()).toHaveLength(4);
  });

  it.each(['events', 'passports'])('%s: a live key is told that a test key is needed', async (resource) => {
    const { call, page } = await shop({}, 'live');
    for (const body of [{}, { type: 'webhook.test' }, 'no JSON']) {
      const answer = await call(`POST /v1/partner/sandbox/${resource}`, body);
      expect(blamed(answer, 404, 'not_found')).toEqual([]);
      expect(answer.json().message).toMatch(/needs a test key/);
    }
    expect(await page()).toEqual(empty);
  });

  it('moves no money: its data are all there is', async () => {
    const { rail, trigger, work, list } = await shop();
    await trigger('payment.completed');
    await work();
    expect([rail.orders, await list('/v1/partner/payments')]).toEqual([[], []]);
  });
});

describe('an unknown type of event', () => {
  async function refusing(options = {}) {
    const all = await shop(options);
    const refusal = async (target: string, body: unknown) => {
      const answer = await all.call(target, body);
      blamed(answer);
      const details = answer.json().details as { path: string; message: string }[];
      return details.map(({ path, message }) => `${path}: ${message}`);
    };
    return { ...all, refusal };
  }
  const rest = `is not an event type; known are ${known.join(', ')}`;

  it('is named beside the known ones, at every place that takes one', async () => {
    const { provider, key, register, refusal } = await refusing();
    const id = await register();
    const [wrong, words] = ['payment.complete', `"payment.complete" ${rest}`];
    for (const [target, body, path] of [
      [`POST ${hooks}`, { url, events: [wrong], secret }, 'events.0'],
      [`PATCH ${hooks}/${id}`, { events: ['kyc.updated', wrong] }, 'events.1'],
      [sandbox, { type: wrong }, 'type'],
    ] as const)
      expect(await refusal(target, body)).toEqual([`${path}: ${words}`]);
    expect(() => provider.ostiary.events.publish({ partner: key.partner, type: wrong, data: {} })).toThrow(
      'type: payment.complete is not among the option events; known are order.shipped',
    );
  });

  it('is not repeated where it could be a secret, or something of any length', async () => {
    const { refusal } = await refusing();
    for (const shown of ['nope', 'Payment.Completed', 'a'.repeat(15)])
      expect(await refusal(sandbox, { type: shown })).toEqual([`type: "${shown}" ${rest}`]);
    const secrets = ['a'.repeat(16), 'first-secret-of-the-endpoint', `a.${'b'.repeat(100)}`];
    for (const hidden of [...secrets, '<script>', '', 7, null])
      expect(await refusal(sandbox, { type: hidden })).toEqual([`type: ${rest}`]);
  });
});
