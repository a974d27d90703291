import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../../src/index.ts';
import type { Json } from '../../support/provider.ts';
import { blamed } from '../refusal.ts';
import { hooks, shop as open, secret, url } from '../webhook-shop.ts';

const sandbox = 'POST /v1/partner/sandbox/events';
const ofHost = {
  'order.shipped': {
    summary: 'An order was shipped.',
    schema: z.object({ order: z.object({ id: z.string().min(3), items: z.array(z.int()) }) }),
    example: { order: { id: 'o-1', items: [1, 2] } },
  },
};
const known = [...Object.keys(events), ...Object.keys(ofHost)];

const shop = (options: Parameters<typeof open>[0] = {}, mode?: 'live') =>
  open({ events: ofHost, ...options }, mode);

it('the sequence of events begins empty, and continues after a number', async () => {
  const { call, trigger } = await shop();
  const page = async (query = '') => (await call(`GET /v1/partner/events${query}`)).json();
  const empty = { data: [], hasMore: false, nextAfter: 0, oldestSequence: null, newestSequence: 0 };
  expect(await page()).toEqual(empty);
  const events: Json[] = [];
  for (let number = 1; number <= 30; number += 1) events.push({ sequence: number, ...(await trigger()) });
  const from = { oldestSequence: 1, newestSequence: 30 };
  for (const query of ['', '?after=0'])
    expect(await page(query)).toEqual({ ...from, data: events.slice(0, 25), hasMore: true, nextAfter: 25 });
  // A page that ends with the last event is not followed by an empty one.
  const last = { ...from, data: events.slice(23), hasMore: false, nextAfter: 30 };
  expect(await page('?after=23&limit=7')).toEqual(last);
  expect(await page('?after=30')).toEqual({ ...empty, ...from, nextAfter: 30 });
});

it('a number beyond the newest event is refused with the newest number, as after a restore of an older backup', async () => {
  const storage = memoryStorage();
  const { provider, key, call, trigger, now } = await shop({ storage });
  const live = await provider.key({ partner: key.partner });
  const refusal = async (after: number, used = key) => {
    const answer = await call(`GET /v1/partner/events?after=${after}&limit=1`, undefined, used);
    expect(blamed(answer)).toEqual(['after']);
    const [detail] = answer.json().details as { message: string }[];
    return detail?.message;
  };
  const beyond = (newest: number) => `is beyond the newest event: newestSequence is ${newest}`;
  expect(await refusal(1)).toBe(beyond(0));
  for (let number = 1; number <= 3; number += 1) await trigger();
  expect(await refusal(4)).toBe(beyond(3));
  expect(await refusal(999_999_999_999_999)).toBe(beyond(3));
  // Each mode has a sequence of its own.
  expect(await refusal(3, live)).toBe(beyond(0));
  // A number below the oldest kept event is not beyond the end.
  const later = Date.parse(now()) + 1;
  await storage.purge({ now: later, before: 0, eventsBefore: later, limit: 100 });
  const { data, oldestSequence, newestSequence } = (await call('GET /v1/partner/events?after=3')).json();
  expect([data, oldestSequence, newestSequence]).toEqual([[], null, 3]);
  expect(await refusal(4)).toBe(beyond(3));
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

  it('is listed with the built-in ones, everywhere a type is accepted', async () => {
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
