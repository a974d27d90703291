/** JSON object that a store keeps without interpreting it. */
export type JsonObject = { readonly [key: string]: unknown };

/** Stores authorization requests that wait for the user to sign in or to consent. */
export interface InteractionStore {
  /** Returns the number of interactions that have not expired at `now`. */
  count(now: number): Promise<number>;
  /**
   * Inserts or replaces an interaction (a waiting authorization request). `expiresAt` is in milliseconds
   * since the Unix epoch.
   */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /**
   * Replaces a stored interaction. Returns `false` and stores nothing if it does not exist. Atomic against
   * `remove`.
   */
  replace(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<boolean>;
  /**
   * Extends the lifetime of an interaction to `expiresAt`, if it would expire earlier. Has no effect if the
   * interaction does not exist.
   */
  extend(digest: Uint8Array, expiresAt: number): Promise<void>;
  /** Returns the payload of an interaction; `null` if it is unknown or expired (`expiresAt <= now`). */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /** Removes an interaction. Returns `true` to exactly one of several concurrent callers. */
  remove(digest: Uint8Array): Promise<boolean>;
}
