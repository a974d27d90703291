import fc from 'fast-check';

/** What happens to one request on its way. */
export type Fault =
  /** Nothing. */
  | { readonly kind: 'none' }
  /** Reset before the service has seen it. */
  | { readonly kind: 'reset before' }
  /** Executed, and reset before the answer. */
  | { readonly kind: 'reset after' }
  | { readonly kind: '429'; readonly seconds: number }
  /** A page of a proxy, before the service has seen it. */
  | { readonly kind: 'page before'; readonly status: number }
  /** The same, after it was executed. */
  | { readonly kind: 'page after'; readonly status: number }
  /** Executed; the answer comes when it is too late. */
  | { readonly kind: 'slow'; readonly seconds: number }
  /** Executed; half of the answer comes. */
  | { readonly kind: 'stalled body' }
  /** Executed; the answer is one of the service, without its body. */
  | { readonly kind: 'empty body' }
  /** The network sends it twice at once, and gives one of the answers, or none. */
  | { readonly kind: 'redelivered'; readonly answer: 'first' | 'second' | 'none' }
  /** Reset; it reaches the service later: beside the next one, after the call has ended, or after everything. */
  | { readonly kind: 'late'; readonly until: 'next' | 'call' | 'end' };

/** One payment that a program makes. */
export interface Order {
  /** Whether it takes something of the payment before it: its key, for another amount, or its reference. */
  readonly takes: 'nothing' | 'key' | 'reference';
  readonly reference: boolean;
  /** Whether the program gives a key; otherwise the SDK makes one. */
  readonly key: boolean;
  readonly maxRetries: number;
  /** Real milliseconds, because time-outs are. */
  readonly timeout: number;
  readonly totalTimeout: number;
  /** Whether the program gives up while this attempt is under way. */
  readonly abortAt: number | null;
  readonly faults: readonly Fault[];
}

export interface Schedule {
  readonly orders: readonly Order[];
  readonly signed: boolean;
  readonly jitter: number;
  /** What the payment rail does to the first payment. */
  readonly rail: 'completes' | 'fails' | 'holds' | 'breaks down';
}

const status = fc.constantFrom(500, 502, 503, 504, 403, 404, 200);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constant<Fault>({ kind: 'none' }),
  fc.constant<Fault>({ kind: 'reset before' }),
  fc.constant<Fault>({ kind: 'reset after' }),
  // Beyond a minute the SDK does not wait by itself.
  fc.record({ kind: fc.constant('429' as const), seconds: fc.constantFrom(0, 1, 30, 90) }),
  fc.record({ kind: fc.constant('page before' as const), status }),
  fc.record({ kind: fc.constant('page after' as const), status }),
  fc.record({ kind: fc.constant('slow' as const), seconds: fc.constantFrom(1, 60) }),
  fc.constant<Fault>({ kind: 'stalled body' }),
  fc.constant<Fault>({ kind: 'empty body' }),
  fc.record({
    kind: fc.constant('redelivered' as const),
    answer: fc.constantFrom('first' as const, 'second' as const, 'none' as const),
  }),
  fc.record({
    kind: fc.constant('late' as const),
    until: fc.constantFrom('next' as const, 'call' as const, 'end' as const),
  }),
);

const order: fc.Arbitrary<Order> = fc.record({
  takes: fc.constantFrom('nothing' as const, 'nothing' as const, 'key' as const, 'reference' as const),
  reference: fc.boolean(),
  key: fc.boolean(),
  maxRetries: fc.integer({ min: 0, max: 4 }),
  timeout: fc.integer({ min: 10, max: 40 }),
  totalTimeout: fc.constantFrom(30, 120, 120_000),
  abortAt: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.integer({ min: 1, max: 3 })),
  faults: fc.array(fault, { maxLength: 6 }),
});

/** Random payments, and what happens to their requests. */
export const schedules: fc.Arbitrary<Schedule> = fc.record({
  orders: fc.array(order, { minLength: 1, maxLength: 3 }),
  signed: fc.boolean(),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  rail: fc.constantFrom(
    'completes' as const,
    'completes' as const,
    'fails' as const,
    'holds' as const,
    'breaks down' as const,
  ),
});
