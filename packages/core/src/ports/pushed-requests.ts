import type { JsonObject } from './interactions.ts';

/** Identifies a pushed authorization request of a client. */
export interface PushedRequestKey {
  /** SHA-256 of the request URI. */
  readonly digest: Uint8Array;
  /** Id of the client that pushed the request. Other clients cannot use it. */
  readonly clientId: string;
}

/** An authorization request that a client pushed (RFC 9126). */
export interface PushedRequest extends PushedRequestKey {
  readonly payload: JsonObject;
  /** Time at which the request expires, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Stores authorization requests that clients pushed (RFC 9126), until they expire. */
export interface PushedRequestStore {
  /**
   * Returns the number of pushed requests, used ones included, that have not expired at `now`. Counting stops
   * at `limit`.
   */
  count(now: number, limit: number): Promise<number>;
  /** Stores a new pushed authorization request. */
  save(request: PushedRequest): Promise<void>;
  /**
   * Returns a pushed request of a client; `null` if it is unknown, belongs to another client, or has expired
   * (`expiresAt <= now`).
   */
  find(
    key: PushedRequestKey,
    now: number,
  ): Promise<{ readonly payload: JsonObject; readonly isUsed: boolean } | null>;
  /**
   * Marks a pushed request as used. Returns `true` to exactly one of any number of callers, over any number
   * of processes, and only if `find` would return the request.
   */
  use(key: PushedRequestKey, now: number): Promise<boolean>;
  /** Replaces the payload of a pushed request that was used. Has no effect if there is no such request. */
  replaceUsed(key: PushedRequestKey, payload: JsonObject): Promise<void>;
}
