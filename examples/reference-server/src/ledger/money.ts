import { z } from 'zod';

/**
 * Schema of an amount: converts a decimal text to integer minor units, since money is never a floating-point
 * number.
 */
export const amountSchema = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,14})\.[0-9]{2}$/, 'must be a decimal with two digits, such as 1250.00')
  .transform((value) => BigInt(value.replace('.', '')));

/** Formats minor units (cents) as a decimal with two digits. */
export function formatMoney(minor: bigint): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(3, '0');
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
