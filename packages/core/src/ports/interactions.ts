/** JSON that a store keeps without looking into it. */
export type JsonObject = { readonly [key: string]: unknown };

/** Authorization requests that wait for the user: sign-in and consent. */
export interface InteractionStore {
  /** Number of interactions that have not ended at `now`. */
  count(now: number): Promise<number>;
  /** Inserts or replaces an interaction. `expiresAt` is in milliseconds since the Unix epoch. */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /**
   * Replaces a stored interaction. Returns `false` and stores nothing if there is none. Atomic against
   * `remove`.
   */
  replace(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<boolean>;
  /**
   * Postpones the end of an interaction to `expiresAt`, if it would end before. Without effect if there is
   * none.
   */
  extend(digest: Uint8Array, expiresAt: number): Promise<void>;
  /** The payload of an interaction. `null` when unknown or when `expiresAt <= now`. */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /** Removes an interaction. `true` for exactly one of several callers. */
  remove(digest: Uint8Array): Promise<boolean>;
  /** Inserts or replaces the answer to an interaction that has ended. Answers are no interactions: they do not count. */
  saveAnswer(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /** Finds the answer to an interaction that has ended. `null` when unknown or when `expiresAt <= now`. */
  findAnswer(digest: Uint8Array, now: number): Promise<JsonObject | null>;
}
