/** JSON that a store keeps without looking into it. */
export type JsonObject = { readonly [key: string]: unknown };

/** Authorization requests that wait for the user: sign-in, consent. */
export interface InteractionStore {
  /** Inserts or replaces. `expiresAt` is in milliseconds since the Unix epoch. */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /**
   * Replaces a stored one. `false` when there is none (any more); nothing is stored then. Atomic against
   * `remove`.
   */
  replace(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<boolean>;
  /** `null` when unknown or when `expiresAt <= now`. */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /** Removes it. `true` for exactly one of several callers. */
  remove(digest: Uint8Array): Promise<boolean>;
}
