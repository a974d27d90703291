import type { JsonObject } from './interactions.ts';
import type { ListPosition } from './lists.ts';

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
  /** SHA-256 over all of the above, made where the act is: what the chain is made of. */
  readonly digest: Uint8Array;
}

/** An act as it is read back: its digest is not kept, so that whoever wants to check an act makes it anew. */
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
  /** How many acts had been written down before there was a chain. */
  readonly before: number;
  /** How many acts without a place in the chain there are now. */
  readonly outside: number;
}

/**
 * What administrators did; kept without end, and never changed. An act that changes something here is not
 * appended: its record is handed to the call that makes the change, and commits with it. Either way it takes the
 * next place in the chain in the same transaction: acts, and only acts, wait for each other.
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
