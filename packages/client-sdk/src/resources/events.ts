import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import { type List, listOf } from '../http/list.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { Mode } from './open.ts';
import type { Delivery } from './webhooks.ts';

/** An event in the form in which webhook endpoints receive it. */
export interface SentEvent {
  /** Id of the event, such as `evt_…`. */
  readonly id: string;
  /** Type of the event, such as `payment.completed`. */
  readonly type: string;
  readonly createdAt: string;
  readonly mode: Mode;
  readonly data: { readonly [name: string]: unknown };
}

/** An event with its number in your sequence. Live and test mode have a sequence each. */
export interface ListedEvent extends SentEvent {
  /** Number of the event in your sequence, from 1, without gaps. */
  readonly sequence: number;
}

/**
 * Response with one page of events.
 *
 * @example
 * ```ts
 * const missed = ({ oldestSequence }: EventPage, seen: number): boolean => (oldestSequence ?? 0) > seen + 1;
 * ```
 */
export interface EventPage {
  readonly data: readonly ListedEvent[];
  readonly hasMore: boolean;
  /** Value of `after` in the request for the next page of events. */
  readonly nextAfter: number;
  /** Number of your oldest event that is still stored; `null` if there is none. */
  readonly oldestSequence: number | null;
  /** Number of your newest event, even if it is no longer stored; 0 if there has been none. */
  readonly newestSequence: number;
}

/** Filter of a list of events. */
export interface EventQuery {
  /**
   * Number of an event: lists the events after it, by default from the beginning. The server refuses a number
   * beyond the newest event.
   */
  readonly after?: number | undefined;
  /** Maximum number of events per page, 1 to 100; 25 by default. */
  readonly limit?: number | undefined;
}

/** Options of a redelivery. */
export interface RedeliverRequest {
  /**
   * Id of the endpoint that gets the event again; by default every enabled endpoint that subscribes to its
   * type now.
   */
  readonly endpointId?: string | undefined;
}

/** Deliveries of the event: new ones, and those that were still pending. */
export interface Redeliveries {
  readonly data: readonly Delivery[];
}

/**
 * Operations on events.
 *
 * @example
 * ```ts
 * let seen = 1017;
 * for await (const event of ostiary.events.list({ after: seen })) {
 *   console.log(event.type, event.data);
 *   seen = event.sequence;
 * }
 * ```
 */
export interface Events {
  /**
   * Lists your events in the order of their sequence numbers, up to the newest, whether or not they were
   * delivered.
   *
   * @throws OstiaryError when the list is read; `invalid_request` for an `after` beyond the newest event
   */
  list(query?: EventQuery, options?: RequestOptions): List<ListedEvent, EventPage>;
  /**
   * Delivers an event again: with the same id, the same bytes, and as many attempts as a new event (five
   * unless the service's operator chose another number). A delivery that is still pending continues instead.
   *
   * @throws OstiaryError `not_found`; `invalid_request` for a disabled endpoint
   */
  redeliver(id: string, request?: RedeliverRequest, options?: IdempotentOptions): ApiPromise<Redeliveries>;
}

export function events(connection: Connection): Events {
  const path = '/v1/partner/events';
  return {
    list: (query, options) =>
      listOf(connection, { path }, query, options, ({ hasMore, nextAfter }) =>
        hasMore ? { after: nextAfter } : null,
      ),
    redeliver: (id, body = {}, options) =>
      call(
        connection,
        { method: 'POST', path: `${path}/{id}/redeliver`, values: { id }, body, repeat: 'key' },
        options,
      ),
  };
}
