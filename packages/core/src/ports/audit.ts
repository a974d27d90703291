import type { JsonObject } from './interactions.ts';
import type { ListPosition } from './lists.ts';

/** An administrative act. Times are milliseconds since the Unix epoch. */
export interface AuditRecord {
  /** `aud_…`, unique. */
  readonly id: string;
  readonly at: number;
  /** Actor, named by the host. */
  readonly actor: string;
  /** Action, such as `client.disable`. */
  readonly action: string;
  /** Target, such as `client:kafe`. */
  readonly target: string;
  /** Values that were set. Never a secret. */
  readonly details: JsonObject;
  /** SHA-256 over all of the above, made where the act is: what the chain is made of. */
  readonly digest: Uint8Array;
}

/** An act as it is read. Its digest is not stored: a check computes it anew. */
export type StoredAct = Omit<AuditRecord, 'digest'>;

/** An act with its place in the chain. */
export interface ChainedAct extends StoredAct {
  /** 1, 2, 3, … without a gap, in the order of the commits. */
  readonly number: number;
  /** SHA-256 over the value before, 32 zero bytes at first, and the digest of the act. */
  readonly chain: Uint8Array;
}

/** The end of the chain, and what stands beside it. */
export interface AuditHead {
  /** The number of the last act, 0 before the first one. */
  readonly number: number;
  /** Its chain value. */
  readonly chain: Uint8Array;
  /** Number of acts that were recorded before there was a chain. */
  readonly before: number;
  /** Present number of acts without a place in the chain. */
  readonly outside: number;
}

/**
 * The audit log. Acts are kept for ever and never changed. An act that changes something here is not
 * appended: its record is passed to the call that makes the change, and commits with it. Either way it takes
 * the next place in the chain in the same transaction, so that acts, and only acts, wait for each other.
 */
export interface AuditStore {
  append(record: AuditRecord): Promise<void>;

  /** Newest first: by `at` descending, then `id` descending; what comes after `after`, at most `limit`. */
  list(request: {
    /** Only acts on this target, or `null` for all. */
    readonly target: string | null;
    readonly after: ListPosition | null;
    readonly limit: number;
  }): Promise<StoredAct[]>;

  head(): Promise<AuditHead>;

  /** Acts in the order of the chain, after a number, at most `limit`. */
  chain(page: { readonly after: number; readonly limit: number }): Promise<ChainedAct[]>;
}
