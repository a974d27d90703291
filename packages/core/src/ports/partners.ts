import type { AuditRecord } from './audit.ts';
import type { NameSearch, SortedPage } from './lists.ts';

/** Mode of data and keys. Live and test data are kept entirely apart. */
export type Mode = 'live' | 'test';

/**
 * Partner and mode on whose behalf a storage call acts. Transfers, endpoints, events and deliveries of other
 * owners are invisible to the call.
 */
export interface Owner {
  readonly partner: string;
  readonly mode: Mode;
}

/** A partner as it is stored. Times are milliseconds since the Unix epoch. */
export interface PartnerRecord {
  /** Identifier of the partner: `[a-z0-9-]{2,40}`, unique, never changed, sent with every webhook. */
  readonly slug: string;
  readonly name: string;
  /** Form of the name by which lists are sorted and searched: lower-case words without accents. */
  readonly searchName: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /**
   * Time at which the partner was disabled; `null` while it is enabled. The keys and clients of a disabled
   * partner are refused, and no webhooks are delivered to it.
   */
  readonly disabledAt: number | null;
  /**
   * Version of the record, one higher after every change. `replace` compares it to detect concurrent changes.
   */
  readonly version: number;
}

/**
 * Counts of a partner's keys, clients, codes, tokens and deliveries, for a change that enables or disables
 * the partner.
 */
export interface PartnerReach {
  /** Number of API keys that are neither revoked nor expired. They work as long as the partner is enabled. */
  readonly keys: number;
  /**
   * Number of OAuth clients that are not disabled themselves. They work as long as the partner is enabled.
   */
  readonly clients: number;
  /** Number of unused authorization codes, not yet expired, that this change revoked. */
  readonly codes: number;
  /** Number of valid access tokens that this change revoked. */
  readonly tokens: number;
  /** Number of pending deliveries that this change cancelled. */
  readonly deliveries: number;
}

/** Stores partners of the service. */
export interface PartnerStore {
  /** Stores a new partner. Returns `false` and changes nothing if the slug is taken. */
  insert(partner: PartnerRecord, audit?: AuditRecord): Promise<boolean>;
  find(slug: string): Promise<PartnerRecord | null>;
  /** Lists partners by slug, starting after the slug `after`, at most `limit`. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<PartnerRecord[]>;
  /** Lists partners by `searchName` or `createdAt`, then by slug. */
  sorted(page: SortedPage): Promise<PartnerRecord[]>;

  /**
   * Lists partners that have a word in `searchName` beginning with `words`, sorted by `searchName`. The
   * search covers the partners that `sorted` lists.
   */
  named(search: NameSearch): Promise<PartnerRecord[]>;
  /** Counts partners. Counting stops at `limit`. */
  count(limit: number): Promise<number>;
  /**
   * Replaces the partner record whose version is `partner.version - 1`. Returns `null` and changes nothing if
   * there is no record with that version.
   *
   * If the new record is disabled, the same transaction revokes all grants of the partner's clients, and with
   * them all their codes and tokens. It also removes the partner's links and sessions of the live portal, and
   * cancels its pending deliveries in both modes, including those that a worker has claimed. Consents and
   * transfers stay. If the new record is enabled, keys and clients work again, but revoked grants and
   * cancelled deliveries stay so.
   */
  replace(partner: PartnerRecord, audit?: AuditRecord): Promise<PartnerReach | null>;
}
