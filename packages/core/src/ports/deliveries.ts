import type { AuditRecord } from './audit.ts';
import type { DeliveryStatus, NewEvent } from './events.ts';
import type { ClaimOutcome, IdempotencyClaim, StoredAnswer } from './idempotency.ts';
import type { ListPosition } from './lists.ts';
import type { Owner } from './partners.ts';
import type { Shares } from './shares.ts';

export type { DeliveryStatus };

/** An attempt of a delivery, as it is logged. */
export interface AttemptRecord {
  /** 1 on the first attempt. */
  readonly number: number;
  /** Start of the attempt, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** A whole number, like every other time. */
  readonly durationMs: number;
  /** `null` when no answer came. */
  readonly httpStatus: number | null;
  /** Reason of the failure; `null` for a success. */
  readonly error: string | null;
  /** The beginning of the answer's body; `null` when no answer came. */
  readonly response: string | null;
}

/** A delivery of one event to one endpoint, with its attempts. Times are milliseconds since the Unix epoch. */
export interface DeliveryRecord extends Owner {
  /** `dl_…`, unique. */
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly endpointId: string;
  readonly status: DeliveryStatus;
  readonly createdAt: number;
  /** Due time of the next attempt; `null` once the status is final. */
  readonly nextAttemptAt: number | null;
  /** In the order of their numbers. */
  readonly attempts: readonly AttemptRecord[];
}

/** A delivery that a worker holds until its lease ends, with everything that an attempt needs. */
export interface ClaimedDelivery extends Owner {
  readonly id: string;
  /** Id of the claim. Results of an earlier claim are refused. */
  readonly claimId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly body: string;
  /**
   * The number of this attempt, from 1. Each attempt that is logged has a number, and so has each claim whose lease ended without a result:
   * its attempt may have reached the endpoint. A claim that was handed back has none.
   */
  readonly attempt: number;
  /** Number of attempts before this one that failed: those with a number, except those that were cut off. */
  readonly failures: number;
  /** Time at which this attempt was due. */
  readonly dueAt: number;
  /** As they are registered at this moment. */
  readonly url: string;
  readonly sealedSecret: string;
}

/** Result of a claim. */
export interface DeliveryResult {
  readonly id: string;
  readonly claimId: string;
  /** `null` when no attempt was made: the delivery is handed back. */
  readonly attempt: AttemptRecord | null;
  /** Says whether this service cut the attempt off. Such an attempt says nothing about the endpoint and does not count as a failure. */
  readonly isCutOff: boolean;
  /** `pending`: due again at `dueAt`. What is final became so when the attempt ended (`at + durationMs`). */
  readonly next:
    | { readonly status: 'pending'; readonly dueAt: number }
    | { readonly status: 'delivered' | 'dropped' };
}

/** Result of a redelivery request. */
export type Redelivery =
  | { readonly outcome: 'queued'; readonly answer: StoredAnswer }
  | ClaimOutcome
  /** No such event of this partner and mode. */
  | { readonly outcome: 'unknown_event' }
  /** No such endpoint of this partner and mode. */
  | { readonly outcome: 'unknown_endpoint' }
  /** The endpoint, or its partner. */
  | { readonly outcome: 'disabled_endpoint' };

/** Number of deliveries of one step of time that have a status. */
export interface DeliveryCount {
  /** 0 is the first step. */
  readonly step: number;
  readonly status: DeliveryStatus;
  /** At least 1. */
  readonly count: number;
}

/** An `Idempotency-Key` whose answer is only known inside the transaction. */
export type LateIdempotencyClaim = Omit<IdempotencyClaim, 'answer'>;

/** Deliveries, attempts, and the worker's hold on them. */
export interface DeliveryStore {
  /**
   * Claims due deliveries until `now + leaseMs`: pending ones that are due at `now` and not claimed, or whose lease has
   * ended. Claims at most
   *
   * - `limit` deliveries in total,
   * - of one endpoint the number in `rooms`, or `room` if `rooms` does not name the endpoint (0 or less: none),
   * - of one partner and mode its share.
   *
   * Test mode comes last, after everything that live mode may take. The endpoints of a partner and mode take turns: the
   * first is the one from which no worker has claimed anything for the longest time, then by id. Partners take turns in
   * the same way, by endpoint or as a whole, so that a large backlog of one endpoint delays no other. Within an endpoint,
   * deliveries that were never claimed come in the order in which they were published, and others by the time at which
   * they became due again or their lease ended. A storage may return the latter first. The result has this order.
   *
   * Two claims with overlapping leases never return the same delivery, unless a crash of the database undid the first
   * one: a claim may be lost in a crash.
   */
  claim(request: {
    readonly claimId: string;
    readonly now: number;
    readonly leaseMs: number;
    readonly limit: number;
    readonly room: number;
    readonly rooms: ReadonlyMap<string, number>;
    /** Without it a partner and mode may have as many as there are. */
    readonly shares?: Shares;
  }): Promise<ClaimedDelivery[]>;

  /**
   * Writes results in one transaction: the attempt into the log, and what is next. Answers for each whether
   * the claim was still the current one; where it was not, nothing of that result is written.
   */
  finish(results: readonly DeliveryResult[]): Promise<boolean[]>;

  /** A delivery with its attempts; `null` for an unknown one, and for one of another owner. */
  find(owner: Owner, id: string): Promise<DeliveryRecord | null>;

  /**
   * Deliveries, newest first: by `createdAt` descending, then `id` descending; what comes after `after`, at
   * most `limit`. `endpointId`, `eventId` and `status` narrow the list where they are not `null`.
   */
  list(
    request: Owner & {
      readonly endpointId: string | null;
      readonly eventId: string | null;
      readonly status: DeliveryStatus | null;
      readonly after: ListPosition | null;
      readonly limit: number;
    },
  ): Promise<DeliveryRecord[]>;

  /**
   * Returns the latest deliveries of each of these events, newest first as in `list` and at most `limit` of
   * each. Unknown events, and those of another partner, are left out. One statement for any number of events.
   */
  latestStatuses(
    request: Owner & { readonly eventIds: readonly string[]; readonly limit: number },
  ): Promise<ReadonlyMap<string, readonly DeliveryStatus[]>>;

  /**
   * Counts deliveries to an endpoint by their present status and the time when they were made: in steps of
   * `stepMs` from `since` on, the oldest first. Only the newest `limit` of them are counted.
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
   * A new delivery of an event, due now, to one endpoint, or, where `endpointId` is `null`, to each enabled
   * endpoint that matches its type now. Where one of that event is pending for the endpoint already, it
   * stands for the new one, and takes no number from the ids of the others. The key is looked at first, then
   * the event, then the endpoint. `answer` is called inside the transaction with the deliveries, in the order
   * of the endpoints' ids, and its value is stored with the idempotency key.
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
   * New deliveries, due now, for the deliveries of an endpoint that were dropped at or after `since` and
   * after which their event was not delivered, queued or dropped again there; the longest dropped first, at
   * most `limit`. `answer` as above, with how many were queued.
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
