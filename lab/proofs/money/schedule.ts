import fc from 'fast-check';

/**
 * Kinds of payments with their frequency and their required result, which a kill of the server must not
 * change.
 */
const kinds = {
  /** Payment that the partner's funds cover. */
  covered: { weight: 16, status: 201, final: 'completed' },
  /** Payment that exceeds the partner's funds: Ostiary accepts the payment, and the payment rail fails it. */
  overdrawn: { weight: 3, status: 201, final: 'failed' },
  /** Payment to a user who does not exist. */
  nobody: { weight: 1, status: 404, final: null },
  /** Payment with an invalid amount. */
  malformed: { weight: 1, status: 400, final: null },
} as const;

type Kind = keyof typeof kinds;

const currencies = ['HTG', 'USD'] as const;

export const recipients = 5;

const payment = fc.record({
  kind: fc.oneof(
    ...Object.entries(kinds).map(([kind, { weight }]) => ({ weight, arbitrary: fc.constant(kind as Kind) })),
  ),
  // Amount in minor units.
  minor: fc.integer({ min: 2, max: 10_000_000 }),
  currency: fc.constantFrom(...currencies),
  // Index of the user who is paid.
  recipient: fc.nat(recipients - 1),
  // Number of requests that are sent at once, all with the same key.
  together: fc.integer({ min: 1, max: 3 }),
  // Number of repetitions after the first responses.
  retries: fc.nat(2),
  // True if the key is finally used with another payload.
  reused: fc.boolean(),
});

/** A payment, and how often its client repeats the request. */
export type PlannedPayment = typeof payment extends fc.Arbitrary<infer Value> ? Value : never;

export interface Schedule {
  readonly payments: readonly PlannedPayment[];
  /** Moments at which the process is killed: `delayMs` after `after` payments have got a response. */
  readonly kills: readonly { readonly after: number; readonly delayMs: number }[];
}

/** Generates schedules: payments with retries, and the moments at which the server is killed. */
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

/** Returns the expected result of a payment, which depends on the kind of the payment alone. */
export function expectedOf({ kind }: PlannedPayment) {
  return kinds[kind];
}

/** Sums up all covered payments by the key that `of` returns, such as the currency. */
export function paid<Key>({ payments }: Schedule, of: (payment: PlannedPayment) => Key): Map<Key, bigint> {
  const sums = new Map<Key, bigint>();
  for (const one of payments) {
    if (one.kind === 'covered') sums.set(of(one), (sums.get(of(one)) ?? 0n) + BigInt(one.minor));
  }
  return sums;
}

/** Formats an amount in minor units (such as cents) as a decimal, as requests need it. */
export function decimal(minor: bigint): string {
  const digits = minor.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Returns the amount of a planned payment as a decimal string, or a string that is no amount for a
 * `malformed` payment. The amount of an `overdrawn` payment exceeds the funds with which every schedule of
 * payments begins.
 */
export function amountOf({ kind, minor }: PlannedPayment): string {
  if (kind === 'malformed') return `${minor}e3`;
  return decimal(BigInt(minor) + (kind === 'overdrawn' ? 100_000_000_000_000n : 0n));
}
