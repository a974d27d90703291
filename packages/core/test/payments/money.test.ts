import { describe, expect, it } from 'vitest';
import { amountFormat, formatAmount, parseAmount, positiveAmount } from '../../src/payments/money.ts';

const largest = `${'9'.repeat(15)}.99`;

describe('an amount', () => {
  it.each([
    ['0.01', 1n],
    ['0.10', 10n],
    ['1.00', 100n],
    ['1250.05', 125_005n],
    [largest, 99_999_999_999_999_999n],
  ])('%s is %s minor units, and back', (text, minor) => {
    expect([parseAmount(text), formatAmount(minor)]).toEqual([minor, text]);
    expect([amountFormat.test(text), positiveAmount.test(text)]).toEqual([true, true]);
  });

  it('of nothing is well-formed, but no payment', () => {
    expect([formatAmount(0n), amountFormat.test('0.00'), positiveAmount.test('0.00')]).toEqual([
      '0.00',
      true,
      false,
    ]);
  });

  it.each(['', '1', '1.0', '1.000', '01.00', '.50', '-1.00', '+1.00', '1e2', '1,00', ' 1.00', `1${largest}`])(
    'is not %j',
    (text) => {
      expect([amountFormat.test(text), positiveAmount.test(text)]).toEqual([false, false]);
    },
  );
});
