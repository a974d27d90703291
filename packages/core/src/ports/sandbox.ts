import type { JsonObject } from './interactions.ts';

/**
 * Stores records of the sandbox and the consoles: console sessions, changed identity checks of sandbox users,
 * the first steps that a partner has done, the last calls of programs that take inbox requests, and new
 * secrets that wait to be shown once. Separate from interactions, so that these records do not count as
 * waiting authorization requests.
 */
export interface SandboxStore {
  /** Inserts or replaces a sandbox record. `expiresAt` is in milliseconds since the Unix epoch. */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /** Returns the payload of a sandbox record; `null` if it is unknown or expired (`expiresAt <= now`). */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /**
   * Returns the payload of a sandbox record as `find` does, and removes the record. Of parallel calls at most
   * one returns it.
   */
  take(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /** Removes a sandbox record, if it exists. */
  remove(digest: Uint8Array): Promise<void>;
}
