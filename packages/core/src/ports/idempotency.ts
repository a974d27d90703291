import type { Quota } from './lists.ts';
import type { Owner } from './partners.ts';

/** An answer that is kept, to be given again. */
export interface StoredAnswer {
  readonly status: number;
  /** The body's text, byte for byte. */
  readonly body: string;
}

/**
 * Use of an `Idempotency-Key`, stored in the same transaction as the request's changes. A port call that
 * changes something on behalf of a partner takes one. Before it changes anything, it searches for a record of
 * the same partner, mode and key that has not ended at `now` (`endsAt > now`). If that has the same
 * fingerprint, the call returns `replayed` and changes nothing; if it has another one, `key_conflict`. A
 * record that has ended is overwritten.
 */
export interface IdempotencyClaim extends Owner {
  /** The header's value, 1 to 255 printable ASCII characters, unquoted. */
  readonly key: string;
  /** HMAC-SHA-256 over method, route and raw body. */
  readonly fingerprint: Uint8Array;
  /** Response of the request if it takes effect. */
  readonly answer: StoredAnswer;
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** Stored record of an earlier request with the key. */
export type IdempotencyOutcome =
  | { readonly outcome: 'replayed'; readonly answer: StoredAnswer }
  | { readonly outcome: 'key_conflict' };

/**
 * Result of a change that found its key in use: by a stored record, or by another request with this key that
 * is under way and did not end within about a second. Then nothing was changed and the outcome of the other
 * is unknown. A later repetition gets its result.
 */
export type ClaimOutcome = IdempotencyOutcome | { readonly outcome: 'in_progress' };

/** Identity of a request's record. */
export type IdempotencyKey = Pick<IdempotencyClaim, 'partner' | 'mode' | 'key'>;

/** The record of a request that took effect. */
export type StoredRequest = Pick<IdempotencyClaim, 'fingerprint' | 'answer'>;

/** Reads records of earlier requests. */
export interface IdempotencyStore {
  /**
   * Finds a key's record without changing anything, so that a replay needs no work. `null` if no record is
   * valid at `now`.
   */
  find(request: IdempotencyKey & { readonly now: number }): Promise<StoredRequest | null>;

  /**
   * Removes records beyond a quota, first those that end first, and at most `limit`. Rows that another transaction has locked stay.
   * Keys and answers are the texts.
   * @returns how many were removed
   */
  removeOldest(request: Owner & Quota & { readonly limit: number }): Promise<number>;
}
