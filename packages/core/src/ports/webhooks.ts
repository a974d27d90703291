import type { AuditRecord } from './audit.ts';
import type { ClaimOutcome, IdempotencyClaim } from './idempotency.ts';
import type { Owner } from './partners.ts';
import type { SealedSecrets } from './sealed-secrets.ts';

/** A webhook endpoint as it is stored. Times are milliseconds since the Unix epoch. */
export interface WebhookEndpointRecord extends Owner {
  /** Unique id of the endpoint: `we_…`. */
  readonly id: string;
  readonly url: string;
  /** Event types to deliver, or `*` alone for all. */
  readonly events: readonly string[];
  readonly enabled: boolean;
  /** Signing secret of the endpoint, encrypted with a sealing key of the host. */
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
  }): Promise<EndpointCreation>;

  /** Returns an endpoint; `null` if it is unknown or belongs to another owner. */
  find(owner: Owner, id: string): Promise<WebhookEndpointRecord | null>;

  /** Lists all endpoints of a partner and mode, by `createdAt`, then id. */
  list(owner: Owner): Promise<WebhookEndpointRecord[]>;

  /**
   * Replaces the record whose version is `endpoint.version - 1`. If the new record is not enabled, the same
   * transaction cancels the endpoint's pending deliveries, including those that a worker has claimed. Returns
   * `false` and changes nothing if there is no record with that version.
   */
  replace(endpoint: WebhookEndpointRecord, now: number, audit?: AuditRecord): Promise<boolean>;

  /**
   * Removes an endpoint and cancels its pending deliveries, including those that a worker has claimed.
   * Returns `false` if there is no such endpoint.
   */
  remove(owner: Owner, id: string, now: number, audit?: AuditRecord): Promise<boolean>;
}
