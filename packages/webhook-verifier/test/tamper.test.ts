import { describe, expect, it } from 'vitest';
import { safeVerify, signWebhook, tamper } from '../src/index.ts';
import { deliveryOf, event, now, secret, timestamp } from './support/delivery.ts';

describe('tampered copies of a delivery', () => {
  const copies = tamper(deliveryOf());

  it.each(copies)('are refused for what was done: $name', async ({ headers, body, code }) => {
    const result = await safeVerify(body, headers, { secret, now });
    expect(result.ok ? 'accepted' : result.error.code).toBe(code);
  });

  it('have names of their own and differ from the delivery', () => {
    const { headers, body } = deliveryOf();
    expect(new Set(copies.map(({ name }) => name)).size).toBe(copies.length);
    for (const copy of copies) expect([copy.headers, copy.body]).not.toEqual([headers, body]);
  });

  it('leave the delivery as it was', async () => {
    const delivery = deliveryOf();
    tamper(delivery);
    expect(delivery).toEqual(deliveryOf());
  });

  it('exist for every wire prefix', async () => {
    const options = { secret, id: event.id, type: event.type, timestamp, partner: 'acme', prefix: 'acme' };
    const delivery = await signWebhook(JSON.stringify(event), options);
    for (const { headers, body, code } of tamper(delivery, { prefix: 'acme' })) {
      const result = await safeVerify(body, headers, { secret, now, prefix: 'acme' });
      expect(result.ok ? 'accepted' : result.error.code).toBe(code);
    }
    expect(() => tamper(delivery)).toThrow(TypeError);
  });
});
