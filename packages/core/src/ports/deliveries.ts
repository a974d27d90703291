import type { AuditRecord } from './audit.ts';
import type { DeliveryState, DeliveryStatus, NewEvent } from './events.ts';
import type { ClaimOutcome, IdempotencyClaim, StoredAnswer } from './idempotency.ts';
import type { ListPosition } from './lists.ts';
import type { Mode, Owner } from './partners.ts';
import type { Shares } from './shares.ts';

export type { DeliveryState, DeliveryStatus };

/** An attempt of a webhook delivery, as the delivery log stores it. */
export interface AttemptRecord {
  /** Number of the attempt at its delivery, from 1. */
  readonly number: number;
  /** Start of the attempt, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Duration of the attempt in whole milliseconds. */
  readonly durationMs: number;
  /** HTTP status of the endpoint's response; `null` if there was no response. */
  readonly httpStatus: number | null;
  /** Reason why the attempt failed; `null` if it succeeded. */
  readonly error: string | null;
  /** Beginning of the response body; `null` if there was no response. */
  readonly response: string | null;
}

/** A delivery of one event to one endpoint, with its attempts. Times are milliseconds since the Unix epoch. */
export interface DeliveryRecord extends Owner {
  /** Unique id of the delivery: `dl_…`. */
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly endpointId: string;
  readonly status: DeliveryStatus;
  readonly createdAt: number;
  /** Time of the next attempt; `null` if the status of the delivery is final. */
  readonly nextAttemptAt: number | null;
  /** Logged attempts of the delivery, ordered by their numbers. */
  readonly attempts: readonly AttemptRecord[];
}

/** A delivery that a worker has claimed until its lease expires, with all data that an attempt needs. */
export interface ClaimedDelivery extends Owner {
  readonly id: string;
  /** Id of the claim. Results that name an earlier claim of the delivery are refused. */
  readonly claimId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly body: string;
  /**
   * Number of this attempt, from 1. Two kinds of earlier attempts have a number: logged attempts, and claims
   * whose lease expired without a result, because their attempt may have reached the endpoint. A claim that
   * was handed back without an attempt has no number.
   */
  readonly attempt: number;
  /** Number of earlier attempts that failed. Attempts that this service cut off do not count. */
  readonly failures: number;
  /** Time at which this attempt was due, in milliseconds since the Unix epoch. */
  readonly dueAt: number;
  /** URL of the endpoint at the time of the claim. */
  readonly url: string;
  readonly sealedSecret: string;
  /** Span that published the event ({@link NewEvent}); `null` for none. */
  readonly traceparent: string | null;
}

/** Result of working on a claimed delivery. */
export interface DeliveryResult {
  readonly id: string;
  readonly claimId: string;
  /** The attempt that the worker made; `null` if it hands the delivery back without an attempt. */
  readonly attempt: AttemptRecord | null;
  /**
   * True if this service cut the attempt off. Such an attempt says nothing about the endpoint, so it does not
   * count as a failure.
   */
  readonly isCutOff: boolean;
  /**
   * New status of the delivery. A `pending` delivery is due again at `dueAt`. For a final status, the time is
   * the end of the attempt (`at + durationMs`).
   */
  readonly next:
    | { readonly status: 'pending'; readonly dueAt: number }
    | { readonly status: 'delivered' | 'dropped' };
}

/** Result of a request to deliver an event again. */
export type Redelivery =
  | { readonly outcome: 'queued'; readonly answer: StoredAnswer }
  | ClaimOutcome
  /** The partner has no event with this id in this mode. */
  | { readonly outcome: 'unknown_event' }
  /** The partner has no endpoint with this id in this mode. */
  | { readonly outcome: 'unknown_endpoint' }
  /** The endpoint or its partner is disabled. */
  | { readonly outcome: 'disabled_endpoint' };

/** Number of an endpoint's deliveries that were created in one interval of time and have the same state. */
export interface DeliveryCount {
  /** Index of the interval in which the deliveries were created; 0 is the oldest interval. */
  readonly step: number;
  readonly state: DeliveryState;
  /** Number of deliveries of this interval and state, at least 1. */
  readonly count: number;
}

/** An `Idempotency-Key` claim whose response is computed inside the transaction, after the change. */
export type LateIdempotencyClaim = Omit<IdempotencyClaim, 'answer'>;

/** Stores webhook deliveries, their attempts, and workers' claims on them. */
export interface DeliveryStore {
  /**
   * Claims due webhook deliveries until `now + leaseMs`. A delivery can be claimed if it is pending, due at
   * `now`, and has no claim whose lease is still running. Claims at most
   *
   * - `limit` deliveries in total,
   * - per endpoint, the number in `endpointLimits`, or `endpointLimit` if `endpointLimits` does not name the endpoint (0 or
   *   less claims none),
   * - per partner and mode, its share.
   *
   * Test mode comes after everything that live mode may take. The endpoints of a partner and mode take turns: first the
   * endpoint from which no worker has claimed anything for the longest time, then by id. Partners take turns in the
   * same way, by endpoint or as a whole, so that a large backlog of one endpoint does not delay other endpoints. Within
   * an endpoint, deliveries that were never claimed are in the order of their publication. The other deliveries are
   * ordered by the time at which they became due again or their lease expired; a storage may return them first. The
   * result has this order.
   *
   * Two claims with overlapping leases never return the same delivery, with one exception: a crash of the database may
   * lose a claim.
   */
  claim(request: {
    readonly claimId: string;
    readonly now: number;
    readonly leaseMs: number;
    readonly limit: number;
    readonly endpointLimit: number;
    readonly endpointLimits: ReadonlyMap<string, number>;
    /**
     * Limits of the claim per partner and mode. If missing, one partner and mode may get all claimed
     * deliveries.
     */
    readonly shares?: Shares;
  }): Promise<ClaimedDelivery[]>;

  /**
   * Stores results of deliveries in one transaction: adds each attempt to the log and sets the new status.
   * Returns for each result whether its claim was still the current one; if it was not, that result is not
   * stored.
   */
  finish(results: readonly DeliveryResult[]): Promise<boolean[]>;

  /** Returns a delivery with its attempts; `null` if it is unknown or belongs to another owner. */
  find(owner: Owner, id: string): Promise<DeliveryRecord | null>;

  /** Returns a delivery of any partner, for operators; `null` if it is unknown. */
  findById(id: string): Promise<DeliveryRecord | null>;

  /**
   * Counts deliveries. `endpointId`, `eventId` and `status` filter them as in `list`. The count stops at `limit`.
   */
  count(
    filter: Owner & {
      readonly endpointId: string | null;
      readonly eventId: string | null;
      readonly status: DeliveryState | null;
    },
    limit: number,
  ): Promise<number>;

  /**
   * Lists deliveries, newest first: by `createdAt` descending, then `id` descending. Starts after the
   * position `after` and returns at most `limit`. `endpointId`, `eventId` and `status` filter the list unless
   * they are `null`. The status `pending` selects all pending deliveries, `failing` only those of which an
   * attempt has failed.
   */
  list(
    request: Owner & {
      readonly endpointId: string | null;
      readonly eventId: string | null;
      readonly status: DeliveryState | null;
      /**
       * True to list the oldest deliveries first; the list then continues with deliveries newer than `after`.
       * @defaultValue false
       */
      readonly oldestFirst?: boolean;
      readonly after: ListPosition | null;
      readonly limit: number;
    },
  ): Promise<DeliveryRecord[]>;

  /**
   * Returns the states of the latest deliveries of each event, newest first as in `list` and at most `limit`
   * of each event. The result leaves out unknown events and events of other owners; with `partner: null` the
   * events may belong to several partners. The method runs one statement for any number of events.
   */
  latestStates(request: {
    readonly partner: string | null;
    readonly mode: Mode;
    readonly eventIds: readonly string[];
    readonly limit: number;
  }): Promise<ReadonlyMap<string, readonly DeliveryState[]>>;

  /**
   * Counts deliveries to an endpoint per state and time of creation, in steps of `stepMs` from `since` on,
   * the oldest step first. Counts only the newest `limit` deliveries.
   */
  countBySteps(
    request: Owner & {
      readonly endpointId: string;
      readonly since: number;
      readonly stepMs: number;
      readonly limit: number;
    },
  ): Promise<readonly DeliveryCount[]>;

  /**
   * Creates a delivery of an event, due now, to one endpoint or, if `endpointId` is `null`, to each enabled
   * endpoint that matches the event's type now. If an endpoint already has a pending delivery of the event,
   * that delivery is returned instead of a new one and uses up no id. Checks the idempotency key first, then
   * the event, then the endpoint. Calls `answer` inside the transaction with the deliveries, ordered by
   * endpoint id, and stores the response that it returns with the idempotency key.
   */
  redeliver(
    request: Owner & {
      readonly eventId: string;
      readonly endpointId: string | null;
      readonly deliveryId: NewEvent['deliveryId'];
      readonly now: number;
      readonly idempotency: LateIdempotencyClaim | null;
      readonly answer: (deliveries: readonly DeliveryRecord[]) => StoredAnswer;
      readonly audit?: AuditRecord;
    },
  ): Promise<Redelivery>;

  /**
   * Creates new deliveries, due now, for deliveries of an endpoint that were dropped at or after `since`.
   * Skips events that were delivered, queued or dropped again at this endpoint later. Takes those that were
   * dropped longest ago first, at most `limit`. Calls `answer` inside the transaction with the number of new
   * deliveries, and stores the response that it returns with the idempotency key.
   */
  recover(
    request: Owner & {
      readonly endpointId: string;
      readonly since: number;
      readonly deliveryId: NewEvent['deliveryId'];
      readonly now: number;
      readonly limit: number;
      readonly idempotency: LateIdempotencyClaim | null;
      readonly answer: (queued: number) => StoredAnswer;
      readonly audit?: AuditRecord;
    },
  ): Promise<Exclude<Redelivery, { readonly outcome: 'unknown_event' }>>;
}
