import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import { type CursorPage, cursorList, type List, listOf } from '../http/list.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { Mode, Open } from './open.ts';

/** An endpoint to register. */
export interface WebhookRequest {
  /** A public https address. */
  readonly url: string;
  /** Event types, or `['*']` for all. */
  readonly events: readonly string[];
  /** 16 to 256 characters; deliveries are signed with it. */
  readonly secret: string;
}

/** Changes of an endpoint. Members that are left out stay as they are. */
export interface WebhookChanges {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly secret?: string | undefined;
  /** Disabling cancels what is pending. */
  readonly enabled?: boolean | undefined;
}

/** An endpoint. Its secret is only returned when it is created. */
export interface WebhookEndpoint {
  /** `we_…` */
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
  readonly mode: Mode;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Confirms that an endpoint was deleted. */
export interface WebhookRemoved {
  readonly id: string;
  readonly deleted: true;
}

/** Delivery of one event to one endpoint. */
export interface Delivery {
  /** `dl_…` */
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly endpointId: string;
  readonly status: Open<'pending' | 'delivered' | 'dropped' | 'cancelled'>;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly attempts: readonly DeliveryAttempt[];
}

/** An attempt of a delivery. */
export interface DeliveryAttempt {
  /** From 1. */
  readonly number: number;
  readonly at: string;
  readonly durationMs: number;
  readonly httpStatus: number | null;
  /** Reason of the failure, such as `timeout`. */
  readonly error: string | null;
  /** The beginning of your answer. */
  readonly response: string | null;
}

/** Filter of a list of deliveries. */
export interface DeliveryQuery {
  readonly status?: 'pending' | 'delivered' | 'dropped' | 'cancelled' | undefined;
  /** Deliveries a page, 1 to 100; 25 unless given. */
  readonly limit?: number | undefined;
  /** `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined;
}

/** Since when dropped deliveries are sent again. */
export interface RecoverRequest {
  readonly since: string | Date;
}

/** Number of deliveries that were queued again. */
export interface Recovered {
  readonly queued: number;
}

/**
 * Webhook endpoints and what was delivered to them.
 *
 * @example
 * ```ts
 * const secret = process.env.WEBHOOK_SECRET ?? '';
 * const { id } = await ostiary.webhooks.create({ url: 'https://app.example/webhooks', events: ['*'], secret });
 * for await (const { eventId, attempts } of ostiary.webhooks.deliveries(id, { status: 'dropped' }))
 *   console.log(eventId, attempts.at(-1)?.error);
 * await ostiary.webhooks.recover(id, { since: '2026-03-01T00:00:00Z' });
 * ```
 */
export interface Webhooks {
  /**
   * Registers an endpoint.
   *
   * @throws OstiaryError `invalid_request` when the address is not public or an event type unknown
   */
  create(request: WebhookRequest, options?: IdempotentOptions): ApiPromise<WebhookEndpoint>;
  /**
   * Every endpoint, the oldest first.
   *
   * @throws OstiaryError when it is read
   */
  list(options?: RequestOptions): List<WebhookEndpoint, { readonly data: readonly WebhookEndpoint[] }>;
  /**
   * An endpoint.
   *
   * @throws OstiaryError `not_found`
   */
  retrieve(id: string, options?: RequestOptions): ApiPromise<WebhookEndpoint>;
  /**
   * Changes an endpoint. To do so twice is as good as once, so a call that failed is repeated.
   *
   * @throws OstiaryError `not_found`
   */
  update(id: string, changes: WebhookChanges, options?: RequestOptions): ApiPromise<WebhookEndpoint>;
  /**
   * Removes an endpoint and cancels what is pending. A call that failed is repeated; when an earlier attempt did it and only its
   * answer was lost, that ends in `not_found` with outcome `unknown`: the endpoint is gone either way.
   *
   * @throws OstiaryError `not_found`
   */
  delete(id: string, options?: RequestOptions): ApiPromise<WebhookRemoved>;
  /**
   * Deliveries to an endpoint with their attempts, newest first.
   *
   * @throws OstiaryError when it is read
   */
  deliveries(
    id: string,
    query?: DeliveryQuery,
    options?: RequestOptions,
  ): List<Delivery, CursorPage<Delivery>>;
  /**
   * Delivers again what was dropped since a time, a thousand at most: call it until it answers 0.
   *
   * @throws OstiaryError `not_found`
   */
  recover(id: string, request: RecoverRequest, options?: IdempotentOptions): ApiPromise<Recovered>;
}

export function webhooks(connection: Connection): Webhooks {
  const path = '/v1/partner/webhooks';
  const one = `${path}/{id}`;
  return {
    create: (body, options) => call(connection, { method: 'POST', path, body, repeat: 'key' }, options),
    list: (options) => listOf(connection, { path }, undefined, options, () => null),
    retrieve: (id, options) => call(connection, { path: one, values: { id } }, options),
    update: (id, body, options) =>
      call(connection, { method: 'PATCH', path: one, values: { id }, body }, options),
    delete: (id, options) => call(connection, { method: 'DELETE', path: one, values: { id } }, options),
    deliveries: (id, query, options) =>
      cursorList(connection, { path: `${one}/deliveries`, values: { id } }, query, options),
    recover: (id, body, options) =>
      call(
        connection,
        { method: 'POST', path: `${one}/recover`, values: { id }, body, repeat: 'key' },
        options,
      ),
  };
}
