import type { AuditRecord } from './audit.ts';
import type { AttemptRecord } from './deliveries.ts';
import type { ClaimOutcome, IdempotencyClaim } from './idempotency.ts';
import type { SortedPage, TimedPage } from './lists.ts';
import type { Mode, Owner } from './partners.ts';
import type { SealedSecrets } from './sealed-secrets.ts';

/** A webhook endpoint as it is stored. Times are milliseconds since the Unix epoch. */
export interface WebhookEndpointRecord extends Owner {
  /** Unique id of the endpoint: `we_…`. */
  readonly id: string;
  readonly url: string;
  /** Event types to deliver, or `*` alone for all. */
  readonly events: readonly string[];
  readonly enabled: boolean;
  /** Signing secret of the endpoint, encrypted with a sealing key of the host application. */
  readonly sealedSecret: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /**
   * Version of the record, one higher after every change. `replace` compares it to detect concurrent changes.
   */
  readonly version: number;
}

/** Result of a request to register an endpoint. */
export type EndpointCreation =
  | { readonly outcome: 'created' }
  | ClaimOutcome
  /** The partner has reached the maximum number of endpoints in this mode. */
  | { readonly outcome: 'too_many' };

/**
 * Failure of an endpoint: it lasts from a failed attempt until an attempt succeeds and no delivery waits for
 * another attempt. Attempts that this service cut off do not count. Disabling the endpoint or its partner
 * ends the failure.
 */
export interface EndpointFailure {
  /** Start of the first attempt that failed, in milliseconds since the Unix epoch. */
  readonly since: number;
  /** Last delivery attempt at the endpoint that failed. */
  readonly lastAttempt: Pick<AttemptRecord, 'at' | 'httpStatus' | 'error'>;
}

/** Condition of an endpoint, derived from its deliveries. Times are milliseconds since the Unix epoch. */
export interface EndpointCondition {
  readonly endpointId: string;
  /** Current failure of the endpoint; `null` if the endpoint does not fail. */
  readonly failure: EndpointFailure | null;
  /** Number of deliveries that wait for another attempt after a failed one. Counting stops at a limit. */
  readonly failing: number;
  /** Time from which a worker may make the next attempt; `null` if no delivery is pending. */
  readonly nextAttemptAt: number | null;
  /** Time at which a worker last claimed a delivery to the endpoint; `null` if no worker ever did. */
  readonly servedAt: number | null;
}

/** Filter for webhook endpoints of one mode. A member that is `null` does not filter. */
export interface EndpointFilter {
  readonly mode: Mode;
  readonly partner: string | null;
  readonly enabled: boolean | null;
}

/** Filter for webhook endpoints of one mode that fail now. */
export interface FailingFilter {
  readonly mode: Mode;
  /** Partner that owns the endpoints; `null` for all partners. */
  readonly partner: string | null;
  /**
   * Time from which a failed attempt counts as a failure of the endpoint. An endpoint with a failed delivery
   * that waits for another attempt fails, too.
   */
  readonly failedSince: number;
}

/** An endpoint that fails now, with the number of its deliveries that wait for another attempt. */
export interface FailingEndpoint extends Owner, EndpointFailure {
  readonly endpointId: string;
  readonly url: string;
  readonly count: number;
}

/** Stores webhook endpoints. */
export interface WebhookEndpointStore extends SealedSecrets {
  /**
   * Stores an endpoint and the record of its `Idempotency-Key` in one transaction, unless the partner has
   * `max` endpoints in this mode already. Concurrent calls never exceed `max`.
   */
  create(creation: {
    readonly endpoint: WebhookEndpointRecord;
    readonly idempotency: IdempotencyClaim | null;
    readonly max: number;
    readonly now: number;
    readonly audit?: AuditRecord;
  }): Promise<EndpointCreation>;

  /** Returns an endpoint; `null` if it is unknown or belongs to another owner. */
  find(owner: Owner, id: string): Promise<WebhookEndpointRecord | null>;

  /** Returns an endpoint of any partner, for operators; `null` if it is unknown. */
  findById(id: string): Promise<WebhookEndpointRecord | null>;

  /** Lists all endpoints of a partner and mode, by `createdAt`, then id. */
  list(owner: Owner): Promise<WebhookEndpointRecord[]>;

  /**
   * Lists endpoints of all partners for operators, sorted by `url` (the order `name`) or by `createdAt`, and
   * then by id.
   */
  sorted(page: SortedPage & EndpointFilter): Promise<WebhookEndpointRecord[]>;

  /** Counts webhook endpoints of all partners that pass the filter. Counting stops at `limit`. */
  count(filter: EndpointFilter, limit: number): Promise<number>;

  /**
   * Lists, for operators, the endpoints of all partners that fail now, sorted by the start of their failure
   * and then by id. The method counts at most `countTo` waiting deliveries of each endpoint.
   */
  failing(request: FailingFilter & TimedPage & { readonly countTo: number }): Promise<FailingEndpoint[]>;

  /** Counts webhook endpoints that fail now and pass the filter. Counting stops at `limit`. */
  countFailing(filter: FailingFilter, limit: number): Promise<number>;

  /**
   * Lists the conditions of all endpoints of a partner and mode, by endpoint id. Counts at most `limit`
   * deliveries of each endpoint.
   */
  conditions(owner: Owner, limit: number): Promise<EndpointCondition[]>;

  /**
   * Replaces the endpoint record whose version is `endpoint.version - 1`. If the new record is not enabled,
   * the same transaction cancels the endpoint's pending deliveries, including those that a worker has
   * claimed. Returns `false` and changes nothing if there is no record with that version.
   */
  replace(endpoint: WebhookEndpointRecord, now: number, audit?: AuditRecord): Promise<boolean>;

  /**
   * Removes an endpoint with the requests of its inbox, and cancels its pending deliveries, including those
   * that a worker has claimed.
   * Returns `false` if there is no such endpoint.
   */
  remove(owner: Owner, id: string, now: number, audit?: AuditRecord): Promise<boolean>;
}
