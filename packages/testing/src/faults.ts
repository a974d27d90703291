import { type Duration, milliseconds } from './clock.ts';
import type { CapturedDelivery } from './delivery.ts';
import { type Limits, Plans } from './plans.ts';

/**
 * Requests that a fault meets, and their number.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const payments: RequestFault = { times: 2, match: /^POST .*\/payments$/ };
 * kit.faults.refuse(payments);
 * ```
 */
export interface RequestFault {
  /** Number of requests; `Infinity` for all. @defaultValue 1 */
  readonly times?: number;
  /**
   * Requests to match: a path (`/v1/partner/payments`), a method and a path (`POST /v1/partner/payments`), a
   * pattern for method and path, or a function.
   * @defaultValue any request
   */
  readonly match?: string | RegExp | ((request: Request) => boolean);
}

/**
 * Deliveries that a fault meets, and their number.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const second: DeliveryFault = { match: ({ headers }) => headers.get('x-svc-attempt') === '2' };
 * kit.faults.webhooks.drop(second);
 * ```
 */
export interface DeliveryFault {
  /** Number of attempts; `Infinity` for all. @defaultValue 1 */
  readonly times?: number;
  /** Deliveries to match: an event type, or a function. @defaultValue any attempt */
  readonly match?: string | ((delivery: CapturedDelivery) => boolean);
}

/** Fault of a request. */
export type RequestEffect =
  | { readonly kind: 'refuse' | 'drop answer' | 'stall body' }
  | { readonly kind: 'rate limit'; readonly retryAfterSeconds: number }
  | { readonly kind: 'slow'; readonly ms: number; readonly clock: 'test' | 'real' }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** Fault of an attempt of a delivery. */
export type DeliveryEffect =
  | { readonly kind: 'drop' | 'time out' | 'duplicate' | 'reorder' }
  | { readonly kind: 'status'; readonly status: number };

/**
 * Faults on the way of deliveries to the partner.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * kit.faults.webhooks.duplicate({ match: 'payment.completed' });
 * kit.faults.webhooks.status(502, { times: 3 });
 * ```
 */
export interface WebhookFaults {
  /** The partner gets the delivery twice, the same bytes with the same signature. */
  duplicate(fault?: DeliveryFault): void;
  /** The delivery comes after the one that follows it, once another one is due at the same time. */
  reorder(fault?: DeliveryFault): void;
  /** The connection breaks before the partner has seen anything; the delivery is retried on schedule. */
  drop(fault?: DeliveryFault): void;
  /** Something before the partner's code answers with this status; the partner's code sees nothing. */
  status(status: number, fault?: DeliveryFault): void;
  /** The partner sees the delivery and answers too late: it is retried, as if the answer had not come. */
  timeOut(fault?: DeliveryFault): void;
}

/**
 * Faults between the client and the service, and between the service and the partner. Each meets the next request that
 * matches, unless it says otherwise; where several match, the one that was asked for first. Requests to
 * receivers, and those that the kit makes itself, meet none.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * kit.faults.dropAnswerAfterCommit({ match: 'POST /v1/partner/payments' });
 * kit.faults.status(502, '<h1>Bad Gateway</h1>', { times: 2 });
 * // … what is tested …
 * kit.faults.assertUsed();
 * ```
 */
export interface TestFaults {
  /** The connection is reset before the request has reached the service. */
  refuse(fault?: RequestFault): void;
  /** The request is executed, and the connection is reset before the answer comes. */
  dropAnswerAfterCommit(fault?: RequestFault): void;
  /** Answers 429 as the service does; the request is not executed. */
  rateLimit(fault?: RequestFault & { /** @defaultValue 1 */ readonly retryAfterSeconds?: number }): void;
  /**
   * The request is executed at once, and its answer comes so much later.
   *
   * @param by - by the clock of the kit, so that it comes when the test moves the clock on; or, with `clock: 'real'`, by
   * the machine's
   */
  slow(
    by: Duration,
    fault?: RequestFault & { /** @defaultValue `'test'` */ readonly clock?: 'test' | 'real' },
  ): void;
  /** The request is executed; status and headers of the answer come, and half of its body. The rest never does. */
  stallBody(fault?: RequestFault): void;
  /** Something before the service answers, such as a proxy; the request is not executed. */
  status(
    status: number,
    body?: string,
    fault?: RequestFault & {
      /** @defaultValue `text/html` as `Content-Type` */
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): void;
  /** Faults of deliveries. */
  readonly webhooks: WebhookFaults;
  /** Faults, those of the rail included, that have not met as many as they were asked for. */
  readonly unused: readonly string[];
  /** @throws Error that lists {@link TestFaults.unused}, if there is one: a test that believes in it proves nothing */
  assertUsed(): void;
  /** Forgets all of them. */
  clear(): void;
}

function requestLimits({ times, match }: RequestFault): Limits<Request> {
  const limits = times === undefined ? {} : { times };
  if (match === undefined) return limits;
  if (typeof match === 'function') return { ...limits, match };
  const line = ({ method, url }: Request): string => `${method} ${new URL(url).pathname}`;
  if (typeof match !== 'string') return { ...limits, match: (request) => match.test(line(request)) };
  return { ...limits, match: (request) => line(request) === match || line(request).endsWith(` ${match}`) };
}

function deliveryLimits({ times, match }: DeliveryFault): Limits<CapturedDelivery> {
  const limits = times === undefined ? {} : { times };
  if (match === undefined) return limits;
  return { ...limits, match: typeof match === 'function' ? match : ({ type }) => type === match };
}

/** @param others - other plans whose unused ones are told too */
export function createTestFaults(others: Plans<never, unknown>): {
  readonly faults: TestFaults;
  readonly requests: Plans<Request, RequestEffect>;
  readonly deliveries: Plans<CapturedDelivery, DeliveryEffect>;
} {
  const requests = new Plans<Request, RequestEffect>();
  const deliveries = new Plans<CapturedDelivery, DeliveryEffect>();
  const unused = () => [...requests.unused(), ...deliveries.unused(), ...others.unused()];

  const onRequest = (name: string, effect: RequestEffect, fault: RequestFault): void =>
    requests.add(`faults.${name}`, effect, requestLimits(fault));
  const onDelivery = (name: string, effect: DeliveryEffect, fault: DeliveryFault): void =>
    deliveries.add(`faults.webhooks.${name}`, effect, deliveryLimits(fault));

  const faults: TestFaults = {
    refuse: (fault = {}) => onRequest('refuse', { kind: 'refuse' }, fault),
    dropAnswerAfterCommit: (fault = {}) => onRequest('dropAnswerAfterCommit', { kind: 'drop answer' }, fault),
    rateLimit: ({ retryAfterSeconds = 1, ...fault } = {}) =>
      onRequest('rateLimit', { kind: 'rate limit', retryAfterSeconds }, fault),
    slow: (by, { clock = 'test', ...fault } = {}) =>
      onRequest('slow', { kind: 'slow', ms: milliseconds(by), clock }, fault),
    stallBody: (fault = {}) => onRequest('stallBody', { kind: 'stall body' }, fault),
    status: (status, body = '', { headers = { 'content-type': 'text/html' }, ...fault } = {}) =>
      onRequest('status', { kind: 'status', status, body, headers }, fault),
    webhooks: {
      duplicate: (fault = {}) => onDelivery('duplicate', { kind: 'duplicate' }, fault),
      reorder: (fault = {}) => onDelivery('reorder', { kind: 'reorder' }, fault),
      drop: (fault = {}) => onDelivery('drop', { kind: 'drop' }, fault),
      status: (status, fault = {}) => onDelivery('status', { kind: 'status', status }, fault),
      timeOut: (fault = {}) => onDelivery('timeOut', { kind: 'time out' }, fault),
    },
    get unused() {
      return unused();
    },
    assertUsed() {
      const names = unused();
      if (names.length > 0) throw new Error(`faults that were not used: ${names.join('; ')}`);
    },
    clear() {
      for (const plans of [requests, deliveries, others]) plans.clear();
    },
  };
  return { faults, requests, deliveries };
}
