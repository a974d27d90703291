import fc from 'fast-check';

type Of<Of> = Of extends fc.Arbitrary<infer Value> ? Value : never;

const status = fc.constantFrom(500, 502, 503, 504, 403, 404, 200);
const kind = <const Kind extends string>(name: Kind) => fc.constant(name);

const fault = fc.oneof(
  fc.record({ kind: kind('none') }),
  // Before the service has seen it.
  fc.record({ kind: kind('reset before') }),
  // Executed, and reset before the answer.
  fc.record({ kind: kind('reset after') }),
  // Beyond a minute the SDK does not wait by itself.
  fc.record({ kind: kind('429'), seconds: fc.constantFrom(0, 1, 30, 90) }),
  // A page of a proxy, before the service has seen it, or after it was executed.
  fc.record({ kind: kind('page before'), status }),
  fc.record({ kind: kind('page after'), status }),
  // Executed; the answer comes when it is too late.
  fc.record({ kind: kind('slow'), seconds: fc.constantFrom(1, 60) }),
  // Executed; half of the answer comes.
  fc.record({ kind: kind('stalled body') }),
  // Executed; the answer is one of the service, without its body.
  fc.record({ kind: kind('empty body') }),
  // The network sends it twice at once, and gives one of the answers, or none.
  fc.record({ kind: kind('redelivered'), answer: fc.constantFrom('first', 'second', 'none') }),
  // Reset; it reaches the service later: beside the next one, after the call has ended, or after everything.
  fc.record({ kind: kind('late'), until: fc.constantFrom('next', 'call', 'end') }),
);

const order = fc.record({
  // Whether it takes something of the payment before it: its key, for another amount, or its reference.
  takes: fc.constantFrom('nothing', 'nothing', 'key', 'reference'),
  reference: fc.boolean(),
  // Whether the program gives a key; otherwise the SDK makes one.
  key: fc.boolean(),
  maxRetries: fc.integer({ min: 0, max: 4 }),
  // Real milliseconds, because time-outs are.
  timeout: fc.integer({ min: 10, max: 40 }),
  totalTimeout: fc.constantFrom(30, 120, 120_000),
  // Whether the program gives up while this attempt is under way.
  abortAt: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.integer({ min: 1, max: 3 })),
  faults: fc.array(fault, { maxLength: 6 }),
});

/** Random payments, and what happens to their requests. */
export const schedules = fc.record({
  orders: fc.array(order, { minLength: 1, maxLength: 3 }),
  signed: fc.boolean(),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  // What the payment rail does to the first payment.
  rail: fc.constantFrom('completes', 'completes', 'fails', 'holds', 'breaks down'),
});

/** What happens to one request on its way. */
export type Fault = Of<typeof fault>;

/** One payment that a program makes. */
export type Order = Of<typeof order>;

/** One of {@link schedules}. */
export type Schedule = Of<typeof schedules>;
