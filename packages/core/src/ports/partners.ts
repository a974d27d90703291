import type { AuditRecord } from './audit.ts';
/** Live data and test data only share code. */
export type Mode = 'live' | 'test';

/**
 * Partner and mode of the transfers, endpoints, events and deliveries of a call. Those of others do not exist
 * for it.
 */
export interface Owner {
  readonly partner: string;
  readonly mode: Mode;
}

/** A partner as it is stored. Times are milliseconds since the Unix epoch. */
export interface PartnerRecord {
  /** `[a-z0-9-]{2,40}`, unique, never changed; sent with every webhook. */
  readonly slug: string;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Set while the partner is disabled: neither its keys nor its clients work, and nothing is delivered to it. */
  readonly disabledAt: number | null;
  /** Grows by one on every change; `replace` compares it. */
  readonly version: number;
}

/** Data of a partner, and the data that ended with a change of the partner. */
export interface PartnerReach {
  /** API keys that are neither revoked nor expired: they work if, and only if, the partner is not disabled. */
  readonly keys: number;
  /** OAuth clients that are not disabled themselves: the same holds for them. */
  readonly clients: number;
  /** Authorization codes, unused until now, that this change ended. */
  readonly codes: number;
  /** Access tokens that this change ended before their time. */
  readonly tokens: number;
  /** Pending deliveries that this change cancelled. */
  readonly deliveries: number;
}

/** Partners of the service. */
export interface PartnerStore {
  /** `false` when the slug is taken; nothing is changed then. */
  insert(partner: PartnerRecord, audit?: AuditRecord): Promise<boolean>;
  find(slug: string): Promise<PartnerRecord | null>;
  /** Partners whose slug sorts after `after`, by slug, at most `limit`. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<PartnerRecord[]>;
  /**
   * Replaces the record whose version is `partner.version - 1`. Returns `null` and changes nothing if there
   * is none.
   *
   * When the new record is disabled, one transaction also revokes every grant of the partner's clients (which
   * ends all their codes and tokens) and cancels its pending deliveries in both modes, those that a worker
   * holds included. Consents stay, and so do transfers. When it is not, keys and clients work again, and
   * nothing else comes back.
   */
  replace(partner: PartnerRecord, audit?: AuditRecord): Promise<PartnerReach | null>;
}
