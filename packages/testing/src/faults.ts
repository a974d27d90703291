import { type Duration, milliseconds } from './clock.ts';
import type { CapturedDelivery } from './delivery.ts';
import { type Limits, Plans } from './plans.ts';

/**
 * Requests to which a fault applies, and their number.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const payments: RequestFault = { times: 2, match: /^POST .*\/payments$/ };
 * kit.faults.refuse(payments);
 * ```
 */
export interface RequestFault {
  /** Number of requests to which the fault applies; `Infinity` for all. @defaultValue 1 */
  readonly times?: number;
  /**
   * Requests to which the fault applies: a path (`/v1/partner/payments`), a method and a path (`POST
   * /v1/partner/payments`), a pattern for method and path, or a function.
   * @defaultValue any request
   */
  readonly match?: string | RegExp | ((request: Request) => boolean);
}

/**
 * Deliveries to which a fault applies, and their number.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const second: DeliveryFault = { match: ({ headers }) => headers.get('x-svc-attempt') === '2' };
 * kit.faults.webhooks.drop(second);
 * ```
 */
export interface DeliveryFault {
  /** Number of attempts to which the fault applies; `Infinity` for all. @defaultValue 1 */
  readonly times?: number;
  /** Deliveries to which the fault applies: an event type, or a function. @defaultValue any attempt */
  readonly match?: string | ((delivery: CapturedDelivery) => boolean);
}

/** Kinds of faults of a request. */
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

/** Kinds of faults of a delivery attempt. */
export type DeliveryEffect =
  | { readonly kind: 'drop' | 'time out' | 'duplicate' | 'reorder' }
  | { readonly kind: 'status'; readonly status: number };

/**
 * Plans faults of webhook deliveries on their way to the partner.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * kit.faults.webhooks.duplicate({ match: 'payment.completed' });
 * kit.faults.webhooks.status(502, { times: 3 });
 * ```
 */
export interface WebhookFaults {
  /** Delivers the next webhook twice: the same bytes with the same signature. */
  duplicate(fault?: DeliveryFault): void;
  /** Delivers a webhook only after another one that is due at the same time. */
  reorder(fault?: DeliveryFault): void;
  /**
   * Breaks the connection before the partner has received anything of the webhook. The delivery is retried on
   * schedule.
   */
  drop(fault?: DeliveryFault): void;
  /** Responds to a webhook with a status before the partner's code runs, as a proxy might. */
  status(status: number, fault?: DeliveryFault): void;
  /** Passes a webhook to the partner, but lets its response come too late. The delivery is retried. */
  timeOut(fault?: DeliveryFault): void;
}

/**
 * Plans faults between client and service, and between service and partner. By default a fault applies to the
 * next matching request; if several match, the one planned first applies. Requests to receivers have no
 * faults, and requests of the kit itself only in the kit for a host.
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
  /** Resets the connection before the next request reaches the service. */
  refuse(fault?: RequestFault): void;
  /** Lets the service execute the request, and resets the connection before the response arrives. */
  dropAnswerAfterCommit(fault?: RequestFault): void;
  /**
   * Responds to a request with 429, without executing it. The status, the body and `Retry-After` are those of
   * the service; the headers `X-RateLimit-…` are missing.
   */
  rateLimit(fault?: RequestFault & { /** @defaultValue 1 */ readonly retryAfterSeconds?: number }): void;
  /**
   * Lets the service execute the request at once, and delays its response.
   *
   * @param by - delay by the kit's clock, so that the response arrives when the test advances the clock; with
   * `clock: 'real'`, by the machine's clock
   */
  slow(
    by: Duration,
    fault?: RequestFault & { /** @defaultValue `'test'` */ readonly clock?: 'test' | 'real' },
  ): void;
  /**
   * Lets the service execute the request, and sends status, headers and half of the body. The rest never
   * arrives.
   */
  stallBody(fault?: RequestFault): void;
  /** Responds to a request with a status as a proxy in front of the service might, without executing it. */
  status(
    status: number,
    body?: string,
    fault?: RequestFault & {
      /** @defaultValue `text/html` as `Content-Type` */
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): void;
  /** Plans faults of webhook deliveries. */
  readonly webhooks: WebhookFaults;
  /** Descriptions of planned faults, including those of the rail, that occurred less often than planned. */
  readonly unused: readonly string[];
  /**
   * Checks that all planned faults occurred, because a test whose faults did not occur proves nothing.
   * @throws Error that lists {@link TestFaults.unused}
   */
  assertUsed(): void;
  /** Removes all faults that were planned. */
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

/** Creates the planner of faults. @param others - plans of other parts, whose unused faults are listed too */
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
