import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { events } from '../../src/index.ts';
import { webhookProvider } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';
import { hooks, url } from './webhook-shop.ts';

const own = { 'order.shipped': { schema: z.object({}), example: {} } };
const known = [...Object.keys(events), 'order.shipped'];

async function shop() {
  const { provider } = await webhookProvider({ events: own });
  const key = await provider.key({ mode: 'test' });
  const call = (target: string, body: unknown) => provider.partnerCall(key, target, body);
  const refusal = async (target: string, body: unknown) => {
    const answer = await call(target, body);
    blamed(answer);
    return (answer.json().details as { path: string; message: string }[]).map(
      ({ path, message }) => `${path}: ${message}`,
    );
  };
  return { provider, key, call, refusal };
}

const secret = 'a secret of the endpoint';

describe('an unknown type of event', () => {
  it('is named beside the known ones, at every place that takes one', async () => {
    const { provider, call, key, refusal } = await shop();
    const { id } = (await call(`POST ${hooks}`, { url, events: ['*'], secret })).json();
    const words = `"payment.complete" is not an event type; known are ${known.join(', ')}`;
    expect(await refusal(`POST ${hooks}`, { url, events: ['payment.complete'], secret })).toEqual([
      `events.0: ${words}`,
    ]);
    expect(await refusal(`PATCH ${hooks}/${id}`, { events: ['kyc.updated', 'payment.complete'] })).toEqual([
      `events.1: ${words}`,
    ]);
    expect(await refusal('POST /v1/partner/sandbox/events', { type: 'payment.complete' })).toEqual([
      `type: ${words}`,
    ]);
    const event = { partner: key.partner, type: 'payment.complete', data: {} };
    expect(() => provider.ostiary.events.publish(event)).toThrow(
      'type: payment.complete is not among the option events; known are order.shipped',
    );
  });

  it('is not repeated where it could be a secret, or something of any length', async () => {
    const { refusal } = await shop();
    const rest = `is not an event type; known are ${known.join(', ')}`;
    for (const [given, name] of [
      ['nope', '"nope" '],
      ['Payment.Completed', '"Payment.Completed" '],
      ['a'.repeat(15), `"${'a'.repeat(15)}" `],
      ['a'.repeat(16), ''],
      ['first-secret-of-the-endpoint', ''],
      [`a.${'b'.repeat(100)}`, ''],
      ['<script>', ''],
      ['', ''],
      [7, ''],
      [null, ''],
    ] as const) {
      expect(await refusal('POST /v1/partner/sandbox/events', { type: given })).toEqual([
        `type: ${name}${rest}`,
      ]);
    }
  });

  it('stands beside no star, and a star alone', async () => {
    const { call, refusal } = await shop();
    for (const types of [
      ['*', 'kyc.updated'],
      ['kyc.updated', '*'],
      ['*', '*'],
    ])
      expect(await refusal(`POST ${hooks}`, { url, events: types, secret })).toEqual([
        'events: takes "*" alone',
      ]);
    expect((await call(`POST ${hooks}`, { url, events: [...known], secret })).status).toBe(201);
  });
});
