import fc from 'fast-check';

/** What payments are made for, how often, and what has to become of them, whatever happens on the way. */
const kinds = {
  /** Covered by the funds of the partner. */
  covered: { weight: 16, status: 201, final: 'completed' },
  /** More than the partner will ever have: accepted, and failed by the rail. */
  overdrawn: { weight: 3, status: 201, final: 'failed' },
  /** To somebody who does not exist. */
  nobody: { weight: 1, status: 404, final: null },
  /** With an amount that is none. */
  malformed: { weight: 1, status: 400, final: null },
} as const;

type Kind = keyof typeof kinds;

const currencies = ['HTG', 'USD'] as const;

export const recipients = 5;

const payment = fc.record({
  kind: fc.oneof(
    ...Object.entries(kinds).map(([kind, { weight }]) => ({ weight, arbitrary: fc.constant(kind as Kind) })),
  ),
  // Minor units.
  minor: fc.integer({ min: 2, max: 10_000_000 }),
  currency: fc.constantFrom(...currencies),
  // Which of the users is paid.
  recipient: fc.nat(recipients - 1),
  // How many requests are sent at once at first, all with one key.
  together: fc.integer({ min: 1, max: 3 }),
  // How many more are sent after that was answered.
  retries: fc.nat(2),
  // Whether the key is tried with another payload in the end.
  reused: fc.boolean(),
});

/** One payment, and how its client behaves. */
export type PlannedPayment = typeof payment extends fc.Arbitrary<infer Value> ? Value : never;

export interface Schedule {
  readonly payments: readonly PlannedPayment[];
  /** When the process is killed: so many answered payments later, and a moment more. */
  readonly kills: readonly { readonly after: number; readonly delayMs: number }[];
}

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

/** The model: what a payment comes to depends on nothing but itself. */
export function expectedOf({ kind }: PlannedPayment) {
  return kinds[kind];
}

/** What all covered payments come to, by currency or whatever `of` says. */
export function paid<Key>({ payments }: Schedule, of: (payment: PlannedPayment) => Key): Map<Key, bigint> {
  const sums = new Map<Key, bigint>();
  for (const one of payments) {
    if (one.kind === 'covered') sums.set(of(one), (sums.get(of(one)) ?? 0n) + BigInt(one.minor));
  }
  return sums;
}

/** Minor units as they are sent. */
export function decimal(minor: bigint): string {
  const digits = minor.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The amount of a payment as it is sent. One that is overdrawn is above everything that any schedule can be funded with. */
export function amountOf({ kind, minor }: PlannedPayment): string {
  if (kind === 'malformed') return `${minor}e3`;
  return decimal(BigInt(minor) + (kind === 'overdrawn' ? 100_000_000_000_000n : 0n));
}
