import type { Quota } from './lists.ts';
import type { Owner } from './partners.ts';

/** A stored response, to be returned again for a repeated request. */
export interface StoredAnswer {
  readonly status: number;
  /** Response body as text, byte for byte. */
  readonly body: string;
}

/**
 * Use of an `Idempotency-Key`, stored in the same transaction as the changes of the request. A storage call
 * takes a claim when it changes something on behalf of a partner. Before any change, it searches for a record
 * of the same partner, mode and key that is valid at `now` (`endsAt > now`). If that record has the same
 * fingerprint, the call returns `replayed` and changes nothing. If the fingerprint differs, the call returns
 * `key_conflict`. An expired record is overwritten.
 */
export interface IdempotencyClaim extends Owner {
  /** Value of the `Idempotency-Key` header, 1 to 255 printable ASCII characters, unquoted. */
  readonly key: string;
  /** HMAC-SHA-256 over method, path and raw body of the request, to recognize the same request. */
  readonly fingerprint: Uint8Array;
  /** Response to store if the request takes effect. */
  readonly answer: StoredAnswer;
  /** Time at which the record expires, in milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/**
 * Result of a storage call if a valid record of the `Idempotency-Key` exists: the earlier request was the
 * same (`replayed`), or a different one (`key_conflict`).
 */
export type IdempotencyOutcome =
  | { readonly outcome: 'replayed'; readonly answer: StoredAnswer }
  | { readonly outcome: 'key_conflict' };

/**
 * Result of a change whose idempotency key is in use: by a stored record, or by a concurrent request with
 * this key that did not finish within about a second (`in_progress`). Nothing was changed. The result of the
 * concurrent request is not known yet; a later retry gets it.
 */
export type ClaimOutcome = IdempotencyOutcome | { readonly outcome: 'in_progress' };

/** Fields that identify an idempotency record. */
export type IdempotencyKey = Pick<IdempotencyClaim, 'partner' | 'mode' | 'key'>;

/** Fingerprint and response of an earlier request that took effect. */
export type StoredRequest = Pick<IdempotencyClaim, 'fingerprint' | 'answer'>;

/** Reads idempotency records, and removes those beyond a limit. */
export interface IdempotencyStore {
  /**
   * Returns the record of an idempotency key without changing anything, so that a repeated request is
   * answered without repeating its work. `null` if no record is valid at `now`.
   */
  find(request: IdempotencyKey & { readonly now: number }): Promise<StoredRequest | null>;

  /**
   * Removes idempotency records of one partner and mode beyond a quota, those that expire first before
   * others, at most `limit`. Rows that another transaction has locked stay. The quota's bytes count keys and
   * stored responses.
   * @returns the number of removed records
   */
  removeOldest(request: Owner & Quota & { readonly limit: number }): Promise<number>;
}
