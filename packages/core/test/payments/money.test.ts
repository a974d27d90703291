import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountFormat, formatAmount, parseAmount } from '../../src/payments/money.ts';

describe('money', () => {
  it('is read and written without losing anything, up to the largest amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 99_999_999_999_999_999n }), (minor) => {
        const text = formatAmount(minor);
        expect(text).toMatch(amountFormat);
        expect(parseAmount(text)).toBe(minor);
      }),
    );
  });

  it.each([
    [0n, '0.00'],
    [1n, '0.01'],
    [10n, '0.10'],
    [100n, '1.00'],
    [9_007_199_254_740_993n, '90071992547409.93'],
    [123_456_789_012_345_678_901n, '1234567890123456789.01'],
  ])('%s minor units are %s', (minor, text) => {
    expect(formatAmount(minor)).toBe(text);
  });
});
