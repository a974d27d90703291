import { describe, expect, it } from 'vitest';
import { tamper } from '../src/index.ts';
import { deliveryOf } from './support/delivery.ts';

// That each copy is refused for what was done is one of the cases that run in every runtime.
describe('tampered copies of a delivery', () => {
  it('have names of their own and differ from the delivery', () => {
    const { headers, body } = deliveryOf();
    const copies = tamper(deliveryOf());
    expect(new Set(copies.map(({ name }) => name)).size).toBe(copies.length);
    for (const copy of copies) expect([copy.headers, copy.body]).not.toEqual([headers, body]);
  });

  it('leave the delivery as it was', () => {
    const delivery = deliveryOf();
    tamper(delivery);
    expect(delivery).toEqual(deliveryOf());
  });

  it('need the prefix of the delivery', () => {
    expect(() => tamper(deliveryOf(), { prefix: 'acme' })).toThrow(TypeError);
  });
});
