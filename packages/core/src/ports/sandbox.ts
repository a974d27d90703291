import type { JsonObject } from './interactions.ts';

/**
 * Records of the sandbox and its console: sessions of a console, identity checks of sandbox users that a partner changed, and the
 * marks of a partner's first run. Nothing here counts as an authorization request that waits for its user.
 */
export interface SandboxStore {
  /** Inserts or replaces a record. `expiresAt` is in milliseconds since the Unix epoch. */
  save(digest: Uint8Array, payload: JsonObject, expiresAt: number): Promise<void>;
  /** The payload of a record. `null` when unknown or when `expiresAt <= now`. */
  find(digest: Uint8Array, now: number): Promise<JsonObject | null>;
  /** Removes a sandbox record, if it exists. */
  remove(digest: Uint8Array): Promise<void>;
}
