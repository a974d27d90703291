import type { PlannedPayment, Schedule } from './schedule.ts';

/** What has to become of a payment, whatever happens on the way. */
export type Expected =
  | { readonly status: 201; readonly final: 'completed' | 'failed' }
  | { readonly status: 400 | 404; readonly final: null };

/** The model: what a payment comes to depends on nothing but itself. */
export function expectedOf({ kind }: PlannedPayment): Expected {
  switch (kind) {
    case 'covered':
      return { status: 201, final: 'completed' };
    case 'overdrawn':
      return { status: 201, final: 'failed' };
    case 'nobody':
      return { status: 404, final: null };
    case 'malformed':
      return { status: 400, final: null };
  }
}

/** What all covered payments come to in a currency: just as much as the partner is given. */
export function fundsFor({ payments }: Schedule, currency: PlannedPayment['currency']): bigint {
  return payments
    .filter((payment) => payment.kind === 'covered' && payment.currency === currency)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

/** Minor units as they are sent. */
export function decimal(minor: bigint): string {
  const digits = minor.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The amount of a payment as it is sent. One that is overdrawn is above everything that any schedule can be funded with. */
export function amountOf({ kind, amount }: PlannedPayment): string {
  if (kind === 'malformed') return `${amount}e3`;
  return decimal(BigInt(amount) + (kind === 'overdrawn' ? 100_000_000_000_000n : 0n));
}
