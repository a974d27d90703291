import type { JsonObject } from './interactions.ts';

/** One administrative act. Times are milliseconds since the Unix epoch. */
export interface AuditRecord {
  /** `aud_…`, unique. */
  readonly id: string;
  readonly at: number;
  /** Who did it, as the host says. */
  readonly actor: string;
  /** What was done, such as `client.disable`. */
  readonly action: string;
  /** What it was done to, such as `client:kafe`. */
  readonly target: string;
  /** What was set. Never a secret. */
  readonly details: JsonObject;
}

/** A place in the list of acts. */
export interface AuditPosition {
  readonly at: number;
  readonly id: string;
}

/**
 * What administrators did; kept without end, and never changed. An act that changes something here is not
 * appended: its record is handed to the call that makes the change, and commits with it.
 */
export interface AuditStore {
  append(record: AuditRecord): Promise<void>;

  /** Newest first: by `at` descending, then `id` descending; what comes after `after`, at most `limit`. */
  list(request: {
    /** Only acts on this target, or `null` for all. */
    readonly target: string | null;
    readonly after: AuditPosition | null;
    readonly limit: number;
  }): Promise<AuditRecord[]>;
}
