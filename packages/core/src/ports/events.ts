import type { AuditRecord } from './audit.ts';
import type { ClaimOutcome, IdempotencyClaim } from './idempotency.ts';
import type { TimedPage } from './lists.ts';
import type { Mode, Owner } from './partners.ts';

/** An event to publish to one partner in one mode. */
export interface NewEvent extends Owner {
  /** Unique id of the event: `evt_…`. */
  readonly id: string;
  readonly type: string;
  /** Body of the webhook request, signed and sent byte for byte on every attempt. */
  readonly body: string;
  /** Time at which the event was created, in milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /**
   * Unique prefix for the ids of the event's deliveries. The adapter appends `_1`, `_2`, … in the order of
   * the endpoints' ids.
   */
  readonly deliveryId: string;
  /**
   * Span that published the event, as a `traceparent` (W3C Trace Context), which the claims of its deliveries
   * return. @defaultValue null
   */
  readonly traceparent?: string | null;
}

/** Status of a delivery. `pending` changes to one of the other statuses, which are final. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dropped' | 'cancelled';

/** State of a delivery: its status, or `failing` for a pending delivery of which an attempt has failed. */
export type DeliveryState = DeliveryStatus | 'failing';

/** An event as it is stored. */
export interface EventRecord extends Omit<NewEvent, 'deliveryId' | 'traceparent'> {
  /**
   * Number of the event in the sequence of its partner and mode: 1, 2, 3, … without a gap, in the order of
   * the commits.
   */
  readonly sequence: number;
}

/** Storage used by an event with its deliveries and their attempts. */
export interface EventSize {
  readonly sequence: number;
  /** Time at which the event was created, in milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Number of stored rows: the event, its deliveries, and the attempts that have a row of their own. */
  readonly rows: number;
  /** UTF-8 bytes of the event's body and of the receivers' response bodies. */
  readonly bytes: number;
}

/**
 * A value or a promise of a value: calls inside a host application's transaction are synchronous on SQLite.
 */
export type MaybePromise<T> = T | Promise<T>;

/**
 * The event store inside a transaction of the host application. What it writes commits and rolls back with
 * that transaction.
 */
export interface HostTransaction {
  /**
   * Lists enabled partners with an enabled client for which the user has an unrevoked consent with this
   * scope. Each partner is listed once, ordered by slug.
   */
  partnersHolding(request: { readonly sub: string; readonly scope: string }): MaybePromise<string[]>;
  /** Publishes events as {@link EventStore.publish} does, inside the host application's transaction. */
  publish(events: readonly NewEvent[]): MaybePromise<void>;
}

/** Result of a call that publishes events: `published`, or why its idempotency key prevented that. */
export type Publication = { readonly outcome: 'published' } | ClaimOutcome;

/** Filter of events. A member that is `null` does not filter. */
export interface EventFilter extends Owner {
  /** Selects events with a sequence number below this one. */
  readonly before: number | null;
  /**
   * Selects events with a sequence number above this one. When filtering by deliveries or times as well, a
   * storage reads all events between `after` and `before`, so the caller must keep the two close.
   */
  readonly after: number | null;
  readonly type: string | null;
  /** Selects events created at or before this time, in milliseconds since the Unix epoch. */
  readonly until: number | null;
  /**
   * Selects events with a delivery in this status; `failing` selects those with a pending delivery of which
   * an attempt has failed, and `none` events without deliveries.
   */
  readonly status: DeliveryState | 'none' | null;
  /**
   * Limits the filter `status` to deliveries to this endpoint. If `status` is `null`, selects events with any
   * delivery to this endpoint.
   */
  readonly endpointId: string | null;
}

/** Filter for events of one mode. A member that is `null` does not filter. */
export interface EveryEventFilter {
  readonly mode: Mode;
  readonly partner: string | null;
  readonly type: string | null;
  /** Selects events by the status of a delivery, as {@link EventFilter.status} does. */
  readonly status: DeliveryState | 'none' | null;
  /** Selects events created at or before this time, in milliseconds since the Unix epoch. */
  readonly until: number | null;
}

/** Stores events and creates their deliveries (the outbox). */
export interface EventStore {
  /**
   * Stores events and their deliveries in one transaction. Each event takes the next sequence number of its
   * partner and mode, in the order of the call. Each enabled endpoint of that partner and mode that
   * subscribes to the event's type or to `*` gets a pending delivery, due at the event's `createdAt`. Events
   * of a disabled partner are numbered too but not delivered. With `idempotency`, a stored record of the key
   * is checked before anything is changed.
   */
  publish(
    events: readonly NewEvent[],
    options: {
      readonly idempotency: IdempotencyClaim | null;
      readonly now: number;
      readonly audit?: AuditRecord;
    },
  ): Promise<Publication>;

  /**
   * Returns an event store that writes on the host application's own connection, inside its transaction.
   * @throws TypeError if `transaction` is not a handle of this kind of database, is connected to another database, or
   * has no open transaction
   */
  within(transaction: unknown): HostTransaction;

  /**
   * Lists partners with a user's consent as {@link HostTransaction.partnersHolding} does, outside of a
   * transaction.
   */
  partnersHolding(request: { readonly sub: string; readonly scope: string }): Promise<string[]>;

  /**
   * Lists events with a sequence number above a given one, in order, at most `limit`. Also returns the number
   * of the oldest stored event (`null` if there is none) and the number of the newest event, even if it is no
   * longer stored (0 if there was none).
   */
  list(request: Owner & { readonly after: number; readonly limit: number }): Promise<{
    readonly events: EventRecord[];
    readonly oldestSequence: number | null;
    readonly newestSequence: number;
  }>;

  /** Lists events that pass the filter, newest first, at most `limit`. */
  latest(request: EventFilter & { readonly limit: number }): Promise<EventRecord[]>;

  /** Lists events of all partners for operators, sorted by `createdAt` and then by id. */
  everywhere(request: EveryEventFilter & TimedPage): Promise<EventRecord[]>;

  /** Counts events of all partners that pass the filter. Counting stops at `limit`. */
  count(filter: EveryEventFilter, limit: number): Promise<number>;

  /**
   * Counts events without a delivery for each type, in the order of the types. Considers only the newest
   * `limit` events, and of these the events created at or after `since`.
   */
  countUndelivered(
    request: Owner & { readonly since: number; readonly limit: number },
  ): Promise<readonly { readonly type: string; readonly count: number }[]>;

  /** Returns an event; `null` if it is unknown or belongs to another owner. */
  find(owner: Owner, id: string): Promise<EventRecord | null>;

  /** Returns an event of any partner, for operators; `null` if it is unknown. */
  findById(id: string): Promise<EventRecord | null>;

  /**
   * Lists partners that ever had an event in test mode, ordered by slug, starting after the slug `after`, at
   * most `limit`.
   */
  testPartners(request: { readonly after: string; readonly limit: number }): Promise<string[]>;

  /** Returns the sizes of events with a sequence number below `before`, newest first, at most `limit`. */
  sizes(request: Owner & { readonly before: number; readonly limit: number }): Promise<EventSize[]>;

  /**
   * Removes the oldest events up to and including the sequence number `upTo`, at most `limit` per call.
   * Removes each with all its deliveries, pending ones included, and their attempts. Skips rows that another
   * transaction has locked, and every later event too, so that the remaining sequence has no gap. A worker's
   * result for a removed delivery is refused (see {@link DeliveryStore.finish}).
   * @returns the number of removed events and deliveries
   */
  removeOldest(
    request: Owner & { readonly upTo: number; readonly limit: number },
  ): Promise<{ readonly events: number; readonly deliveries: number }>;
}
