import type { AuditRecord } from './audit.ts';
import type { Mode } from './partners.ts';
import type { SealedSecrets } from './sealed-secrets.ts';

/** Scope of an API key (specification, "Partner API key"). */
export type KeyScope =
  | 'identity:verify'
  | 'payments:write'
  | 'payments:read'
  | 'users:read'
  | 'webhooks'
  | 'reconciliation:read';

/** An API key as it is stored; the key itself never is. Times are milliseconds since the Unix epoch. */
export interface ApiKeyRecord {
  /** `key_…`; names the key in lists and logs, opens nothing. */
  readonly id: string;
  /** Slug of the partner. */
  readonly partner: string;
  readonly mode: Mode;
  /** Said by the administrator, to tell keys apart. */
  readonly name: string;
  /** SHA-256 of the key. Unique. */
  readonly digest: Uint8Array;
  readonly scopes: readonly KeyScope[];
  /** CIDR ranges from which it may be used, or `null` for everywhere. Never empty. */
  readonly allowlist: readonly string[] | null;
  /** Refuse requests with a body that are not signed. */
  readonly requireSignature: boolean;
  /** The signing secret, sealed. */
  readonly sealedSigningSecret: string;
  /** Name by which rate limits count. A rolled key and its successor share it. */
  readonly quotaId: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Written at most once a minute. */
  readonly lastUsedAt: number | null;
}

/** A key joined with what its partner says of it. */
export interface ApiKeyState extends ApiKeyRecord {
  readonly partnerDisabled: boolean;
}

/** API keys. The secret of a row is its signing secret, of revoked and ended keys too. */
export interface ApiKeyStore extends SealedSecrets {
  /** `false` when there is no such partner, or the id or the digest is taken; nothing is changed then. */
  insert(key: ApiKeyRecord, audit?: AuditRecord): Promise<boolean>;
  find(id: string): Promise<ApiKeyState | null>;
  /** Returns the key with this digest, in any state. One statement. */
  findByDigest(digest: Uint8Array): Promise<ApiKeyState | null>;
  /**
   * Checks whether a key is not revoked, not ended at `now`, and its partner not disabled. One statement,
   * which runs with every request of a partner.
   */
  isLive(id: string, now: number): Promise<boolean>;
  /** Every key of a partner, latest `createdAt` first, then by id. */
  list(partner: string): Promise<ApiKeyRecord[]>;
  /** Sets `revokedAt` unless it is set. `false` for an unknown key; `true` otherwise, however often. */
  revoke(id: string, now: number, audit?: AuditRecord): Promise<boolean>;
  /**
   * Stores the successor of a key and ends the old one at `endsAt` (or earlier, when it would have ended
   * earlier), in one transaction.
   * `false` when the old key is unknown, revoked, or ended at `now`; nothing is changed then.
   */
  roll(roll: {
    readonly id: string;
    readonly successor: ApiKeyRecord;
    readonly endsAt: number;
    readonly now: number;
    readonly audit?: AuditRecord;
  }): Promise<boolean>;
  /** Notes that a key was used. Never goes back in time; without effect on an unknown key. */
  touch(id: string, now: number): Promise<void>;
}
