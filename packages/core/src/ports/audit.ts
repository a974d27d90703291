import type { JsonObject } from './interactions.ts';
import type { ListPosition } from './lists.ts';

/** An administrative act. Times are milliseconds since the Unix epoch. */
export interface AuditRecord {
  /** Unique id of the act: `aud_…`. */
  readonly id: string;
  readonly at: number;
  /**
   * Name of the person or program that acted: as the host application gave it, `host` if it gave none, or
   * `portal link of …` for a change in the live portal.
   */
  readonly actor: string;
  /** Role of the operator who acted, as the host application gave it; `null` if the host gave none. */
  readonly role: string | null;
  /** Kind of act, such as `client.disable`. */
  readonly action: string;
  /** Object that the act changed, such as `client:kafe`. */
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
  /** Position of the act in the chain: 1, 2, 3, … without a gap, in the order of the commits. */
  readonly number: number;
  /**
   * SHA-256 over the chain value of the previous act (32 zero bytes for the first act) and the digest of this
   * act.
   */
  readonly chain: Uint8Array;
}

/** The end of the audit log's chain, and the numbers of acts that are not in the chain. */
export interface AuditHead {
  /** Number of the last act in the chain of the audit log; 0 if the chain is empty. */
  readonly number: number;
  /** Chain value of the last act in the chain; 32 zero bytes if the chain is empty. */
  readonly chain: Uint8Array;
  /** Number of acts that were recorded before the chain was introduced. */
  readonly before: number;
  /** Number of acts that are stored without a place in the chain. */
  readonly outside: number;
}

/** Filter of a list of acts. A member that is `null` does not filter. */
export interface AuditFilter {
  /** Object that the listed acts changed, such as `client:kafe`. */
  readonly target: string | null;
  /** Name of the person or program whose acts are listed. */
  readonly actor: string | null;
  /** Kind of the acts to list, such as `client.disable`. */
  readonly action: string | null;
  /** Earliest time of the acts to list. */
  readonly from: number | null;
  /** Latest time of the listed acts. @defaultValue null */
  readonly until?: number | null;
  /** Kinds of acts to leave out of the list. @defaultValue none */
  readonly except?: readonly string[];
}

/**
 * Stores the audit log, whose acts are kept for ever and never changed. An act that changes stored data with
 * one storage call is not appended with this port: its record is passed to that call, and commits with the
 * change. Either way the act takes the next place in the chain in the same transaction, so acts wait for each
 * other but no other work does.
 */
export interface AuditStore {
  append(record: AuditRecord): Promise<void>;

  /**
   * Lists acts that match every part of the filter, newest first: by `at` descending, then `id` descending.
   * Returns at most `limit` acts that come after the position `after`.
   */
  list(
    request: AuditFilter & {
      /**
       * True to list the oldest acts first; the list then continues with acts that are newer than `after`.
       * @defaultValue false
       */
      readonly oldestFirst?: boolean;
      readonly after: ListPosition | null;
      readonly limit: number;
    },
  ): Promise<StoredAct[]>;

  /** Counts the acts that `list` lists. The count stops at `limit`. */
  count(filter: AuditFilter, limit: number): Promise<number>;

  head(): Promise<AuditHead>;

  /**
   * Lists acts in the order of the audit log's chain, those with a number greater than `after`, at most
   * `limit`.
   */
  chain(page: { readonly after: number; readonly limit: number }): Promise<ChainedAct[]>;
}
