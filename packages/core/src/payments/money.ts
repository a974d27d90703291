/**
 * Format of an amount: no sign, no exponent, no leading zero, two digits, at most fifteen before the point.
 */
export const amountFormat = /^(0|[1-9][0-9]{0,14})\.[0-9]{2}$/;

/** As {@link amountFormat}, above zero. Without lookaheads, which RE2 (Go, Rust) does not know. */
export const positiveAmount = /^(0\.(0[1-9]|[1-9][0-9])|[1-9][0-9]{0,14}\.[0-9]{2})$/;

/** Minor units of a well-formed amount; both currencies have two digits (ISO 4217). */
export function parseAmount(text: string): bigint {
  return BigInt(text.replace('.', ''));
}

/** Formats a non-negative amount of minor units for the API: 12500n is `125.00`. */
export function formatAmount(minor: bigint): string {
  const digits = minor.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
