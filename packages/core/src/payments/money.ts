/**
 * Format of an amount of money: no sign, no exponent, no leading zero, two decimals, at most fifteen digits
 * before the point.
 */
export const amountFormat = /^(0|[1-9][0-9]{0,14})\.[0-9]{2}$/;

/** Format of an amount of money above zero. Uses no lookaheads, which RE2 (Go, Rust) does not support. */
export const positiveAmount = /^(0\.(0[1-9]|[1-9][0-9])|[1-9][0-9]{0,14}\.[0-9]{2})$/;

/**
 * Converts a well-formed amount of money to minor units (cents). The currencies, HTG and USD, have two decimals
 * (ISO 4217).
 */
export function parseAmount(text: string): bigint {
  return BigInt(text.replace('.', ''));
}

/** Formats an amount in minor units (cents) for the API: 12500n becomes `125.00`. */
export function formatAmount(minor: bigint): string {
  const digits = minor.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
