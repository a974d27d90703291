/** JSON that a store keeps without looking into it. */
export type JsonObject = { readonly [key: string]: unknown };

/**
 * Authorization requests that wait for the user (sign-in, consent), sign-ins to the sandbox console, and the little that the
 * sandbox keeps for each partner.
 */
export interface InteractionStore {
  /** How many there are that have not ended at `now`. */
  count(now: number): Promise<number>;
  /** Inserts or replaces. `expiresAt` is in milliseconds since the Unix epoch. */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /**
   * Replaces a stored one. `false` when there is none (any more); nothing is stored then. Atomic against
   * `remove`.
   */
  replace(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<boolean>;
  /** Lets it live until `expiresAt`, if it would end before. Without effect on one that is not there. */
  extend(digest: Uint8Array, expiresAt: number): Promise<void>;
  /** `null` when unknown or when `expiresAt <= now`. */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /** Removes it. `true` for exactly one of several callers. */
  remove(digest: Uint8Array): Promise<boolean>;
}
