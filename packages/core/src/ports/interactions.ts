/** JSON object that a store keeps without interpreting it. */
export type JsonObject = { readonly [key: string]: unknown };

/** Stores authorization requests that wait for the user to sign in or to consent. */
export interface InteractionStore {
  /** Returns the number of interactions that have not expired at `now`. */
  count(now: number): Promise<number>;
  /** Inserts or replaces an interaction. `expiresAt` is in milliseconds since the Unix epoch. */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /**
   * Replaces a stored interaction. Returns `false` and stores nothing if there is none. Atomic against
   * `remove`.
   */
  replace(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<boolean>;
  /**
   * Extends the lifetime of an interaction to `expiresAt`, if it would expire earlier. Has no effect if there
   * is none.
   */
  extend(digest: Uint8Array, expiresAt: number): Promise<void>;
  /** Returns the payload of an interaction; `null` if it is unknown or expired (`expiresAt <= now`). */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /** Removes an interaction. Returns `true` to exactly one of several concurrent callers. */
  remove(digest: Uint8Array): Promise<boolean>;
  /**
   * Stores or replaces the response to a finished interaction, to be returned again. Such responses are not
   * in `count`.
   */
  saveAnswer(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /**
   * Returns the stored response to a finished interaction; `null` if it is unknown or expired (`expiresAt <=
   * now`).
   */
  findAnswer(digest: Uint8Array, now: number): Promise<JsonObject | null>;
}
