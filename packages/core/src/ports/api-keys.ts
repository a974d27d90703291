import type { AuditRecord } from './audit.ts';
import type { SortedPage } from './lists.ts';
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
  /** Id of the API key, `key_…`, for lists and logs. The id gives no access. */
  readonly id: string;
  /** Slug of the partner. */
  readonly partner: string;
  readonly mode: Mode;
  /** Label that the administrator chose, to tell a partner's keys apart. */
  readonly name: string;
  /** Form of the key's name by which lists are sorted: lower-case words without accents. */
  readonly searchName: string;
  /**
   * Beginning of the API key, by which people find it: the prefix and 8 of the 43 random characters, such as
   * `svc_live_4fGh8sQ2`.
   */
  readonly start: string;
  /** SHA-256 of the API key, unique. */
  readonly digest: Uint8Array;
  readonly scopes: readonly KeyScope[];
  /** CIDR ranges from which the key may be used, never empty; `null` allows every address. */
  readonly allowlist: readonly string[] | null;
  /** True if requests with a body must be signed with the key's signing secret. */
  readonly requireSignature: boolean;
  /** Signing secret of the key, encrypted with a sealing key of the host application. */
  readonly sealedSigningSecret: string;
  /**
   * Name under which rate limits count the key's requests. A key and the key that replaces it share this
   * name.
   */
  readonly quotaId: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /**
   * Time at which the key was last used, accurate to a minute because it is written at most once a minute;
   * `null` if the key was never used.
   */
  readonly lastUsedAt: number | null;
}

/** An API key joined with the state of its partner. */
export interface ApiKeyState extends ApiKeyRecord {
  readonly partnerDisabled: boolean;
}

/**
 * Stores API keys. The sealed secret of each row is the key's signing secret, for revoked and expired keys
 * too.
 */
export interface ApiKeyStore extends SealedSecrets {
  /**
   * Stores a key. Returns `false` and changes nothing if the partner does not exist, or the id or digest is
   * taken.
   */
  insert(key: ApiKeyRecord, audit?: AuditRecord): Promise<boolean>;
  find(id: string): Promise<ApiKeyState | null>;
  /**
   * Returns the API key with this digest in any state, even revoked or expired; `null` for an unknown digest.
   * Runs one statement.
   */
  findByDigest(digest: Uint8Array): Promise<ApiKeyState | null>;
  /**
   * Checks that an API key is not revoked, is not expired at `now`, and belongs to an enabled partner. Runs
   * one statement, because every partner request needs it.
   */
  isLive(id: string, now: number): Promise<boolean>;
  /** Lists the API keys of all partners by `searchName` or `createdAt`, then by id. */
  sorted(page: SortedPage): Promise<ApiKeyRecord[]>;
  /** Counts the API keys of all partners. Counting stops at `limit`. */
  count(limit: number): Promise<number>;
  /**
   * Lists the API keys of all partners whose visible beginning (`start`) begins with a text, in the order of
   * that beginning, at most `limit`.
   */
  startingWith(text: string, limit: number): Promise<ApiKeyRecord[]>;
  /** Lists all keys of a partner, latest `createdAt` first, then by id. */
  list(partner: string): Promise<ApiKeyRecord[]>;
  /**
   * Revokes a key. Returns `false` and changes nothing if the key is unknown, or was revoked before.
   */
  revoke(id: string, now: number, audit?: AuditRecord): Promise<boolean>;
  /**
   * Stores the key that replaces an API key and makes the old key expire at `endsAt`, or earlier if it would
   * have expired earlier, in one transaction. Returns `false` and changes nothing if the old key is unknown,
   * revoked, or expired at `now`.
   */
  roll(roll: {
    readonly id: string;
    readonly successor: ApiKeyRecord;
    readonly endsAt: number;
    readonly now: number;
    readonly audit?: AuditRecord;
  }): Promise<boolean>;
  /**
   * Records the time at which a key was used, unless a later time is stored. Has no effect for an unknown
   * key.
   */
  touch(id: string, now: number): Promise<void>;
}
