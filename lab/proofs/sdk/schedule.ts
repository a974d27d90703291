import fc from 'fast-check';

type Of<Of> = Of extends fc.Arbitrary<infer Value> ? Value : never;

const status = fc.constantFrom(500, 502, 503, 504, 403, 404, 200);
const kind = <const Kind extends string>(name: Kind) => fc.constant(name);

const fault = fc.oneof(
  fc.record({ kind: kind('none') }),
  // Reset before the service has received the request.
  fc.record({ kind: kind('reset before') }),
  // Reset after the request was executed, before the response.
  fc.record({ kind: kind('reset after') }),
  // Rejection with a wait. Beyond a minute the SDK does not wait by itself.
  fc.record({ kind: kind('429'), seconds: fc.constantFrom(0, 1, 30, 90) }),
  // Page of a proxy, before the service has received the request, or after it was executed.
  fc.record({ kind: kind('page before'), status }),
  fc.record({ kind: kind('page after'), status }),
  // Executed request whose response comes too late.
  fc.record({ kind: kind('slow'), seconds: fc.constantFrom(1, 60) }),
  // Executed request of whose response half arrives.
  fc.record({ kind: kind('stalled body') }),
  // Executed request whose response arrives without its body.
  fc.record({ kind: kind('empty body') }),
  // Request that the network sends twice at once. It returns one of the responses, or none.
  fc.record({ kind: kind('redelivered'), answer: fc.constantFrom('first', 'second', 'none') }),
  // Reset request that reaches the service later: beside the next one, after the call has ended, or after all
  // calls.
  fc.record({ kind: kind('late'), until: fc.constantFrom('next', 'call', 'end') }),
);

const order = fc.record({
  // Part that it takes from the previous payment: its key, for another amount, or its reference.
  takes: fc.constantFrom('nothing', 'nothing', 'key', 'reference'),
  reference: fc.boolean(),
  // True if the program sets a key; otherwise the SDK makes one.
  key: fc.boolean(),
  maxRetries: fc.integer({ min: 0, max: 4 }),
  // Time in real milliseconds, as time-outs use real time.
  timeout: fc.integer({ min: 10, max: 40 }),
  totalTimeout: fc.constantFrom(30, 120, 120_000),
  // Number of the attempt during which the program gives up; `null` if it does not.
  abortAt: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.integer({ min: 1, max: 3 })),
  faults: fc.array(fault, { maxLength: 6 }),
});

/** Random payments, and the faults of their requests. */
export const schedules = fc.record({
  orders: fc.array(order, { minLength: 1, maxLength: 3 }),
  signed: fc.boolean(),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  // Behaviour of the payment rail for the first payment.
  rail: fc.constantFrom('completes', 'completes', 'fails', 'holds', 'breaks down'),
});

/** A fault of one request on its way. */
export type Fault = Of<typeof fault>;

/** A payment that a program makes. */
export type Order = Of<typeof order>;

/** A schedule from {@link schedules}. */
export type Schedule = Of<typeof schedules>;
