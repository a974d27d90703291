import fc from 'fast-check';

/** What a payment is made for. */
export type PaymentKind =
  /** Covered by the funds of the partner. */
  | 'covered'
  /** More than the partner will ever have: accepted, and failed by the rail. */
  | 'overdrawn'
  /** To somebody who does not exist: refused. */
  | 'nobody'
  /** With an amount that is none: refused. */
  | 'malformed';

/** One payment, and how its client behaves. */
export interface PlannedPayment {
  readonly kind: PaymentKind;
  /** Minor units. */
  readonly amount: number;
  readonly currency: 'HTG' | 'USD';
  /** Which of the users is paid. */
  readonly recipient: number;
  /** How many requests are sent at once at first, all with one key. */
  readonly together: number;
  /** How many more are sent after that was answered. */
  readonly retries: number;
  /** Whether the key is tried with another payload in the end. */
  readonly reused: boolean;
}

/** When the process is killed: so many answered payments later, and a moment more. */
export interface PlannedKill {
  readonly after: number;
  readonly delayMs: number;
}

export interface Schedule {
  readonly payments: readonly PlannedPayment[];
  readonly kills: readonly PlannedKill[];
}

export const recipients = 5;

const payment: fc.Arbitrary<PlannedPayment> = fc.record({
  kind: fc.oneof(
    { weight: 16, arbitrary: fc.constant('covered' as const) },
    { weight: 3, arbitrary: fc.constant('overdrawn' as const) },
    { weight: 1, arbitrary: fc.constant('nobody' as const) },
    { weight: 1, arbitrary: fc.constant('malformed' as const) },
  ),
  amount: fc.integer({ min: 2, max: 10_000_000 }),
  currency: fc.constantFrom('HTG', 'USD'),
  recipient: fc.nat(recipients - 1),
  together: fc.integer({ min: 1, max: 3 }),
  retries: fc.nat(2),
  reused: fc.boolean(),
});

/** Payments with retries, and moments to kill the process in. */
export function schedules(size: {
  readonly payments: number;
  readonly kills: number;
}): fc.Arbitrary<Schedule> {
  const kill = fc.record({ after: fc.nat(size.payments - 1), delayMs: fc.nat(30) });
  return fc.record({
    payments: fc.array(payment, { minLength: size.payments, maxLength: size.payments, size: 'max' }),
    kills: fc
      .array(kill, { minLength: size.kills, maxLength: size.kills, size: 'max' })
      .map((kills) => kills.toSorted((a, b) => a.after - b.after)),
  });
}
