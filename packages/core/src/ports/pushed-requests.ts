import type { JsonObject } from './interactions.ts';

/** Identifies a pushed authorization request. */
export interface PushedRequestKey {
  /** SHA-256 of its request URI. */
  readonly digest: Uint8Array;
  /** The client that pushed it. No other client finds it. */
  readonly clientId: string;
}

/** An authorization request that a client pushed (RFC 9126). */
export interface PushedRequest extends PushedRequestKey {
  readonly payload: JsonObject;
  /** End, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Authorization requests that clients pushed, until they end. */
export interface PushedRequestStore {
  /** Counts the requests, used ones too, that have not ended at `now`, up to `limit`. */
  count(now: number, limit: number): Promise<number>;
  /** Stores a new request. */
  save(request: PushedRequest): Promise<void>;
  /** Finds a request of a client. `null` when unknown, of another client, or when `expiresAt <= now`. */
  find(
    key: PushedRequestKey,
    now: number,
  ): Promise<{ readonly payload: JsonObject; readonly isUsed: boolean } | null>;
  /**
   * Marks a request as used. `true` for exactly one of any number of callers, over any number of processes, and only where `find`
   * would find it.
   */
  use(key: PushedRequestKey, now: number): Promise<boolean>;
  /** Replaces the payload of a request that was used. Without effect if there is none. */
  replaceUsed(key: PushedRequestKey, payload: JsonObject): Promise<void>;
}
