import type { AuditRecord } from './audit.ts';
import type { ClaimOutcome, IdempotencyClaim } from './idempotency.ts';
import type { Owner } from './partners.ts';
import type { SealedSecrets } from './sealed-secrets.ts';

/** A webhook endpoint as it is stored. Times are milliseconds since the Unix epoch. */
export interface WebhookEndpointRecord extends Owner {
  /** `we_…`, unique. */
  readonly id: string;
  readonly url: string;
  /** Types of events, or `*` alone. */
  readonly events: readonly string[];
  readonly enabled: boolean;
  /** The webhook secret, sealed. */
  readonly sealedSecret: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Grows by one on every change; `replace` compares it. */
  readonly version: number;
}

/** Result of a request to register an endpoint. */
export type EndpointCreation =
  | { readonly outcome: 'created' }
  | ClaimOutcome
  /** The partner has as many endpoints in this mode as are allowed. */
  | { readonly outcome: 'too_many' };

/** Webhook endpoints. */
export interface WebhookEndpointStore extends SealedSecrets {
  /**
   * Stores an endpoint and the record of its `Idempotency-Key`, in one transaction, unless the partner has
   * `max` endpoints in this mode already: of any number of parallel calls no more than `max` are stored.
   */
  create(creation: {
    readonly endpoint: WebhookEndpointRecord;
    readonly idempotency: IdempotencyClaim | null;
    readonly max: number;
    readonly now: number;
  }): Promise<EndpointCreation>;

  /** `null` for an unknown endpoint and for somebody else's. */
  find(owner: Owner, id: string): Promise<WebhookEndpointRecord | null>;

  /** All of a partner and mode, by `createdAt`, then id. */
  list(owner: Owner): Promise<WebhookEndpointRecord[]>;

  /**
   * Replaces the record whose version is `endpoint.version - 1`. When the new one is not enabled, its pending
   * deliveries are cancelled in the same transaction, those that a worker holds included. `false` when there
   * is no such version; nothing is changed then.
   */
  replace(endpoint: WebhookEndpointRecord, now: number, audit?: AuditRecord): Promise<boolean>;

  /** Removes an endpoint and cancels its pending deliveries, as above. `false` if there is none. */
  remove(owner: Owner, id: string, now: number, audit?: AuditRecord): Promise<boolean>;
}
