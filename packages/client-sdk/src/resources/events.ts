import type { ApiPromise } from '../http/api-promise.ts';
import { call } from '../http/call.ts';
import { type List, listOf } from '../http/list.ts';
import type { Connection, IdempotentOptions, RequestOptions } from '../options.ts';
import type { Mode } from './open.ts';
import type { Delivery } from './webhooks.ts';

/** An event as it was sent. */
export interface SentEvent {
  /** `evt_…` */
  readonly id: string;
  /** Such as `payment.completed`. */
  readonly type: string;
  readonly createdAt: string;
  readonly mode: Mode;
  readonly data: { readonly [name: string]: unknown };
}

/** An event and its place in your sequence. */
export interface ListedEvent extends SentEvent {
  /** From 1, without gaps. */
  readonly sequence: number;
}

/**
 * A page of events.
 *
 * @example
 * ```ts
 * const missed = ({ oldestSequence }: EventPage, seen: number): boolean => (oldestSequence ?? 0) > seen + 1;
 * ```
 */
export interface EventPage {
  readonly data: readonly ListedEvent[];
  readonly hasMore: boolean;
  /** Value of `after` for the next page. */
  readonly nextAfter: number;
  /** The oldest event that is kept. */
  readonly oldestSequence: number | null;
  /** The newest event, kept or not; 0 when there was none. */
  readonly newestSequence: number;
}

/** Filter of a list of events. */
export interface EventQuery {
  /**
   * Lists events after this place in the sequence. Without it, lists them from the beginning. The server
   * refuses a place beyond the newest event.
   */
  readonly after?: number | undefined;
  /** Events a page, 1 to 100; 25 unless given. */
  readonly limit?: number | undefined;
}

/** Endpoints that get the event again. */
export interface RedeliverRequest {
  /** To all that match the event's type now, unless given. */
  readonly endpointId?: string | undefined;
}

/** The new deliveries, or those that were pending. */
export interface Redeliveries {
  readonly data: readonly Delivery[];
}

/**
 * Events.
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
   * Events in their sequence, to its present end: what you have missed, and what you have not.
   *
   * @throws OstiaryError when it is read; `invalid_request` for an `after` beyond the newest event
   */
  list(query?: EventQuery, options?: RequestOptions): List<ListedEvent, EventPage>;
  /**
   * Delivers an event again: the same id, the same bytes, five new attempts.
   *
   * @throws OstiaryError `not_found`
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
