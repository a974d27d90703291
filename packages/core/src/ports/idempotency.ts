import type { Owner } from './partners.ts';

/** An answer that is kept, to be given again. */
export interface StoredAnswer {
  readonly status: number;
  /** The body's text, byte for byte. */
  readonly body: string;
}

/**
 * One use of an `Idempotency-Key`: stored in the same transaction as what the request changes. A port call
 * that changes something on behalf of a partner takes one and, before it does anything, looks for a record of
 * the same partner, mode and key that has not ended at `now` (`endsAt > now`): with the same fingerprint it
 * answers `replayed` and changes nothing; with another one `key_conflict`. A record that has ended is
 * overwritten.
 */
export interface IdempotencyClaim extends Owner {
  /** The header's value, 1 to 255 printable ASCII characters, unquoted. */
  readonly key: string;
  /** HMAC-SHA-256 over method, route and raw body. */
  readonly fingerprint: Uint8Array;
  /** What the request answers if it takes effect. */
  readonly answer: StoredAnswer;
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** What a stored record says before anything is changed. */
export type IdempotencyOutcome =
  | { readonly outcome: 'replayed'; readonly answer: StoredAnswer }
  | { readonly outcome: 'key_conflict' };

/**
 * What a change meets that takes a key: a stored record, or another request with this key that is under way and did not
 * end within about a second. Then nothing was changed, and nothing is known: the same again, later, hears what became of
 * the other one.
 */
export type ClaimOutcome = IdempotencyOutcome | { readonly outcome: 'in_progress' };

/** What names the record of a request. */
export type IdempotencyKey = Pick<IdempotencyClaim, 'partner' | 'mode' | 'key'>;

/** The record of a request that took effect. */
export type StoredRequest = Pick<IdempotencyClaim, 'fingerprint' | 'answer'>;

/** Reads records of earlier requests. */
export interface IdempotencyStore {
  /**
   * Looks a key up without changing anything, so that a replay needs no work. `null` when there is no record
   * that lives at `now`.
   */
  find(request: IdempotencyKey & { readonly now: number }): Promise<StoredRequest | null>;
}
