import fc from 'fast-check';

type Of<Of> = Of extends fc.Arbitrary<infer Value> ? Value : never;

const status = fc.constantFrom(500, 502, 503, 504, 403, 404, 200);
const kind = <const Kind extends string>(name: Kind) => fc.constant(name);

const fault = fc.oneof(
  fc.record({ kind: kind('none') }),
  // The connection is reset before the service has received the request.
  fc.record({ kind: kind('reset before') }),
  // The connection is reset after the request was executed, before the response.
  fc.record({ kind: kind('reset after') }),
  // The request is rejected with a wait. Above a minute the SDK does not wait itself.
  fc.record({ kind: kind('429'), seconds: fc.constantFrom(0, 1, 30, 90) }),
  // A proxy responds with a page, before the service has received the request, or after it was executed.
  fc.record({ kind: kind('page before'), status }),
  fc.record({ kind: kind('page after'), status }),
  // The request is executed, but its response arrives too late.
  fc.record({ kind: kind('slow'), seconds: fc.constantFrom(1, 60) }),
  // The request is executed, but only half of its response arrives.
  fc.record({ kind: kind('stalled body') }),
  // The request is executed, but its response arrives without its body.
  fc.record({ kind: kind('empty body') }),
  // The network sends the request twice at once, and returns one of the responses, or none.
  fc.record({ kind: kind('redelivered'), answer: fc.constantFrom('first', 'second', 'none') }),
  // The connection is reset, but the request reaches the service later: beside the next one, after the call
  // has ended, or after all calls.
  fc.record({ kind: kind('late'), until: fc.constantFrom('next', 'call', 'end') }),
);

const order = fc.record({
  // Reuses a value of the previous payment: its key with another amount, its reference, or nothing.
  takes: fc.constantFrom('nothing', 'nothing', 'key', 'reference'),
  reference: fc.boolean(),
  // True if the program sets a key; otherwise the SDK makes one.
  key: fc.boolean(),
  maxRetries: fc.integer({ min: 0, max: 4 }),
  // Time-out in real milliseconds.
  timeout: fc.integer({ min: 10, max: 40 }),
  totalTimeout: fc.constantFrom(30, 120, 120_000),
  // Number of the attempt during which the program aborts the call; `null` for none.
  abortAt: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.integer({ min: 1, max: 3 })),
  faults: fc.array(fault, { maxLength: 6 }),
});

/** Generates random payments, and the faults of their requests. */
export const schedules = fc.record({
  orders: fc.array(order, { minLength: 1, maxLength: 3 }),
  signed: fc.boolean(),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  // Behaviour of the payment rail for the first payment.
  rail: fc.constantFrom('completes', 'completes', 'fails', 'holds', 'breaks down'),
});

/** A network fault of one request. */
export type Fault = Of<typeof fault>;

/** A payment that the program makes, with the settings of the SDK call and the faults of its requests. */
export type Order = Of<typeof order>;

/** A random schedule of payments and faults, from {@link schedules}. */
export type Schedule = Of<typeof schedules>;
