import { describe, expect, it } from 'vitest';
import { signWebhook, verify } from '../src/index.ts';
import { deliveryOf, event, now, secret, timestamp } from './support/delivery.ts';

const options = { secret, id: event.id, type: event.type, timestamp, partner: 'acme' };

describe('a signed delivery', () => {
  it('is what the specification says, header by header', async () => {
    const delivery = await signWebhook(JSON.stringify(event), options);
    expect(delivery).toEqual(deliveryOf());
    expect(Object.keys(delivery.headers)).toEqual(Object.keys(deliveryOf().headers));
  });

  it('may have any text', async () => {
    const odd = JSON.stringify({ ...event, data: '\u0000\u2028\uFFFD🦉' });
    const { headers, body } = await signWebhook(odd, options);
    expect((await verify(body, headers, { secret, now })).event).toEqual(JSON.parse(odd));
  });
});
