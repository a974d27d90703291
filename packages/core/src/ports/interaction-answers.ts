import type { JsonObject } from './interactions.ts';

/**
 * Stores the responses to finished interactions. A browser that repeats its request gets the same response
 * again.
 */
export interface InteractionAnswerStore {
  /**
   * Stores or replaces the response to an interaction. `digest` is the digest of the interaction, which is
   * removed before its response is stored. `expiresAt` is in milliseconds since the Unix epoch.
   */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /** Returns the response to an interaction; `null` if it is unknown or expired (`expiresAt <= now`). */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
}
