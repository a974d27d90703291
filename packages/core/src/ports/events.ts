import type { ClaimOutcome, IdempotencyClaim } from './idempotency.ts';
import type { Owner } from './partners.ts';

/** An event that is about to be published to one partner in one mode. */
export interface NewEvent extends Owner {
  /** `evt_…`, unique. */
  readonly id: string;
  readonly type: string;
  /** The text that is signed and sent, byte for byte, on every attempt. */
  readonly body: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /**
   * Prefix of the ids of its deliveries, unique. The adapter appends `_1`, `_2`, … in the order of the
   * endpoints' ids.
   */
  readonly deliveryId: string;
}

/** `pending` becomes one of the others, which are final. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dropped' | 'cancelled';

/** An event as it is stored. */
export interface EventRecord extends Omit<NewEvent, 'deliveryId'> {
  /** 1, 2, 3, … per partner and mode, without a gap, in the order of the commits. */
  readonly sequence: number;
}

/** Size of an event with its deliveries and their attempts. */
export interface EventSize {
  readonly sequence: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Number of rows: the event, its deliveries, and their attempts that are stored beside the delivery. */
  readonly rows: number;
  /** Bytes of the event's body and of the receivers' answers, in UTF-8. */
  readonly bytes: number;
}

/** A value, now or later: inside a host's transaction on SQLite everything happens at once. */
export type MaybePromise<T> = T | Promise<T>;

/** The outbox inside a transaction of the host. Its writes commit and roll back with the transaction. */
export interface HostTransaction {
  /**
   * Partners, not disabled, of enabled clients that hold an unrevoked consent of the user with this scope;
   * each once, in the order of their slugs.
   */
  partnersHolding(request: { readonly sub: string; readonly scope: string }): MaybePromise<string[]>;
  /** See {@link EventStore.publish}. */
  publish(events: readonly NewEvent[]): MaybePromise<void>;
}

/** Result of a request to publish. */
export type Publication = { readonly outcome: 'published' } | ClaimOutcome;

/** Filter of events; `null` members exclude none. */
export interface EventFilter extends Owner {
  /** Events with a lower sequence number. */
  readonly before: number | null;
  /**
   * Events with a greater sequence number. If deliveries or times are filtered too, a storage reads all
   * events between the two numbers, so the caller keeps them close.
   */
  readonly after: number | null;
  readonly type: string | null;
  /** Events created then or before, in milliseconds since the Unix epoch. */
  readonly until: number | null;
  /** Events with a delivery in this state; `none`: without delivery. */
  readonly status: DeliveryStatus | 'none' | null;
  /** Only deliveries to this endpoint count; with `status` `null`: those with any of them. */
  readonly endpointId: string | null;
}

/** Events and the outbox. */
export interface EventStore {
  /**
   * Stores events and their deliveries in one transaction: each event takes the next sequence number of its
   * partner and mode, and every enabled endpoint of that partner and mode whose `events` hold its type or `*`
   * gets a pending delivery, due at the event's `createdAt`; a disabled partner's sequence goes on, and nothing is
   * delivered to it. The order of one call is the order of the
   * sequence. With `idempotency`, a record of the key decides before anything is changed.
   */
  publish(
    events: readonly NewEvent[],
    options: { readonly idempotency: IdempotencyClaim | null; readonly now: number },
  ): Promise<Publication>;

  /**
   * The outbox on the host's own connection.
   * @throws TypeError when `transaction` is not a handle of this kind of database, is not connected to this
   * database, or is in no transaction
   */
  within(transaction: unknown): HostTransaction;

  /** See {@link HostTransaction.partnersHolding}, outside a transaction. */
  partnersHolding(request: { readonly sub: string; readonly scope: string }): Promise<string[]>;

  /**
   * Events after a sequence number, in their order, at most `limit`, with the number of the oldest event that
   * is kept (`null` when none is kept), and the number of the newest event, kept or not (0 when there was none).
   */
  list(request: Owner & { readonly after: number; readonly limit: number }): Promise<{
    readonly events: EventRecord[];
    readonly oldestSequence: number | null;
    readonly newestSequence: number;
  }>;

  /** The newest events first: those that pass the filter, at most `limit`. */
  latest(request: EventFilter & { readonly limit: number }): Promise<EventRecord[]>;

  /** `null` for an unknown event and for somebody else's. */
  find(owner: Owner, id: string): Promise<EventRecord | null>;

  /** Partners that ever had an event in test mode, in the order of their slugs: those after a slug, at most `limit`. */
  testPartners(request: { readonly after: string; readonly limit: number }): Promise<string[]>;

  /** Sizes of the newest events with a sequence number below `before`, newest first, at most `limit`. */
  sizes(request: Owner & { readonly before: number; readonly limit: number }): Promise<EventSize[]>;

  /**
   * Removes the oldest events that are kept, up to and including the sequence number `upTo`, each with all its deliveries, pending
   * ones included, and their attempts; at most `limit` events in this call. Rows that another transaction holds stay, and so does
   * every later event, so that what is kept of the sequence has no gap. A result of a removed delivery is refused
   * (see {@link DeliveryStore.finish}).
   * @returns how many events and deliveries were removed
   */
  removeOldest(
    request: Owner & { readonly upTo: number; readonly limit: number },
  ): Promise<{ readonly events: number; readonly deliveries: number }>;
}
