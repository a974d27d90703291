import type { JsonObject } from './interactions.ts';
import type { ListPosition } from './lists.ts';

/** An administrative act. Times are milliseconds since the Unix epoch. */
export interface AuditRecord {
  /** Unique id of the act: `aud_…`. */
  readonly id: string;
  readonly at: number;
  /** Name of the person or program that acted, as the host gave it. */
  readonly actor: string;
  /** Role in which an operator acted, as the host gave it; `null` if it gave none. */
  readonly role: string | null;
  /** Kind of act, such as `client.disable`. */
  readonly action: string;
  /** Record that the act changed, such as `client:kafe`. */
  readonly target: string;
  /**
   * Values that the act set and, in the member `before`, the values that they replaced, under the same names.
   * Never contains a secret.
   */
  readonly details: JsonObject;
  /** SHA-256 over the other fields of the act. The chain of the audit log is computed from these digests. */
  readonly digest: Uint8Array;
}

/** An audit act as read from storage, without its digest: a verification computes the digest again. */
export type StoredAct = Omit<AuditRecord, 'digest'>;

/** An audit act with its place in the hash chain. */
export interface ChainedAct extends StoredAct {
  /** Position in the chain: 1, 2, 3, … without a gap, in the order of the commits. */
  readonly number: number;
  /** SHA-256 over the previous act's chain value (32 zero bytes for the first act) and this act's digest. */
  readonly chain: Uint8Array;
}

/** The end of the audit log's chain, and the numbers of acts that are not in the chain. */
export interface AuditHead {
  /** Number of the last act in the chain; 0 if there is none. */
  readonly number: number;
  /** Chain value of the last act. */
  readonly chain: Uint8Array;
  /** Number of acts that were recorded before the chain was introduced. */
  readonly before: number;
  /** Number of acts that are stored now without a place in the chain. */
  readonly outside: number;
}

/** Acts to list. `null` does not narrow the list. */
export interface AuditFilter {
  /** Record that the acts changed, such as `client:kafe`. */
  readonly target: string | null;
  /** Person or program that acted. */
  readonly actor: string | null;
  /** Kind of the acts, such as `client.disable`. */
  readonly action: string | null;
  /** Earliest time of the acts. */
  readonly from: number | null;
}

/**
 * The audit log, whose acts are kept for ever and never changed. The act for a change of stored data is not
 * appended here: it is passed to the port call that makes the change, and commits with it. Either way the act
 * takes the next place in the chain in the same transaction, so acts wait for each other but nothing else
 * does.
 */
export interface AuditStore {
  append(record: AuditRecord): Promise<void>;

  /**
   * Lists acts that fit every part of the filter, newest first: by `at` descending, then `id` descending.
   * Returns at most `limit` acts that come after the position `after`.
   */
  list(
    request: AuditFilter & { readonly after: ListPosition | null; readonly limit: number },
  ): Promise<StoredAct[]>;

  head(): Promise<AuditHead>;

  /** Lists acts in the order of the chain, from the number after `after` on, at most `limit`. */
  chain(page: { readonly after: number; readonly limit: number }): Promise<ChainedAct[]>;
}
