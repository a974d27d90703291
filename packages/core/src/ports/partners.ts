import type { AuditRecord } from './audit.ts';
/** Live data and test data share code and nothing else. */
export type Mode = 'live' | 'test';

/** A partner as it is stored. Times are milliseconds since the Unix epoch. */
export interface PartnerRecord {
  /** `[a-z0-9-]{2,40}`, unique, never changed; sent with every webhook. */
  readonly slug: string;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Set while the partner is disabled: none of its keys works. */
  readonly disabledAt: number | null;
  /** Grows by one on every change; `replace` compares it. */
  readonly version: number;
}

/** Partners of the service. */
export interface PartnerStore {
  /** `false` when the slug is taken; nothing is changed then. */
  insert(partner: PartnerRecord, audit?: AuditRecord): Promise<boolean>;
  find(slug: string): Promise<PartnerRecord | null>;
  /** Partners whose slug sorts after `after`, by slug, at most `limit`. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<PartnerRecord[]>;
  /**
   * Replaces the record whose version is `partner.version - 1`. `false` when there is none; nothing is
   * changed then.
   */
  replace(partner: PartnerRecord, audit?: AuditRecord): Promise<boolean>;
}
