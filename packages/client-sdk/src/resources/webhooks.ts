import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import { type CursorPage, cursorList, type List, listOf } from '../http/list.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { Mode, Open } from './open.ts';

/** Request to register a webhook endpoint. */
export interface WebhookRequest {
  /** URL of the endpoint: a public https URL; with a test key also an inbox of the service, such as `inbox:200`. */
  readonly url: string;
  /** Event types to which the endpoint subscribes, or `['*']` for all. */
  readonly events: readonly string[];
  /**
   * Secret that signs the webhooks to the endpoint, 16 to 256 characters. If the service also sends the
   * headers of Standard Webhooks, a secret that begins with `whsec_` must continue with the base64 of 24 to
   * 64 bytes.
   */
  readonly secret: string;
}

/** Changes of an endpoint. Omitted members stay as they are. */
export interface WebhookChanges {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly secret?: string | undefined;
  /** `false` disables the endpoint and cancels its pending deliveries. */
  readonly enabled?: boolean | undefined;
}

/** A webhook endpoint. The server never returns its secret. */
export interface WebhookEndpoint {
  /** Id of the endpoint, such as `we_…`. */
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
  /** Id of the delivery, such as `dl_…`. */
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
  /** Number of the attempt of its delivery, from 1. */
  readonly number: number;
  readonly at: string;
  readonly durationMs: number;
  readonly httpStatus: number | null;
  /** Reason why the attempt failed, such as `timeout`; `null` if it succeeded. */
  readonly error: string | null;
  /** Beginning of your endpoint's response; `null` if there was none. */
  readonly response: string | null;
}

/** Filter of a list of deliveries. */
export interface DeliveryQuery {
  readonly status?: 'pending' | 'failing' | 'delivered' | 'dropped' | 'cancelled' | undefined;
  /** Maximum number of deliveries per page, 1 to 100; 25 by default. */
  readonly limit?: number | undefined;
  /** Position at which the list continues: `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined;
}

/** Request to repeat the deliveries that were dropped at the time `since` or later. */
export interface RecoverRequest {
  readonly since: string | Date;
}

/** Number of deliveries that were queued again. */
export interface Recovered {
  readonly queued: number;
}

/**
 * Operations on webhook endpoints and their deliveries.
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
   * @throws OstiaryError `invalid_request` if the URL is not public, an event type is unknown, the secret is
   * weak, or there are 50 endpoints already
   */
  create(request: WebhookRequest, options?: IdempotentOptions): ApiPromise<WebhookEndpoint>;
  /**
   * Lists all endpoints of the key's mode, oldest first.
   *
   * @throws OstiaryError when the list is read
   */
  list(options?: RequestOptions): List<WebhookEndpoint, { readonly data: readonly WebhookEndpoint[] }>;
  /**
   * Returns an endpoint.
   *
   * @throws OstiaryError `not_found`
   */
  retrieve(id: string, options?: RequestOptions): ApiPromise<WebhookEndpoint>;
  /**
   * Changes an endpoint. Applying the same changes twice does no harm, so a failed call is repeated.
   *
   * @throws OstiaryError `not_found`; `invalid_request` for a URL, event type or secret that `create` refuses
   */
  update(id: string, changes: WebhookChanges, options?: RequestOptions): ApiPromise<WebhookEndpoint>;
  /**
   * Removes an endpoint and cancels its pending deliveries. A failed call is repeated. If an earlier attempt
   * removed the endpoint and its response was lost, the call ends with `not_found` and outcome `unknown`: the
   * endpoint is gone either way.
   *
   * @throws OstiaryError `not_found`
   */
  delete(id: string, options?: RequestOptions): ApiPromise<WebhookRemoved>;
  /**
   * Lists the deliveries to an endpoint with their attempts, newest first.
   *
   * @throws OstiaryError when the list is read
   */
  deliveries(
    id: string,
    query?: DeliveryQuery,
    options?: RequestOptions,
  ): List<Delivery, CursorPage<Delivery>>;
  /**
   * Repeats the deliveries that were dropped since a given time, at most a thousand per call. Skips events
   * that the endpoint got later, or that are queued for it again. Call it again until it returns 0.
   *
   * @throws OstiaryError `not_found`; `invalid_request` for a disabled endpoint
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
