import type { NewEvent } from './events.ts';
import type { ClaimOutcome, IdempotencyClaim } from './idempotency.ts';
import type { JsonObject } from './interactions.ts';
import type { ListPosition, Quota } from './lists.ts';
import type { Mode, Owner } from './partners.ts';
import type { NewJob } from './queue.ts';

/** Currencies of transfers. Amounts are integers of minor units. */
export type Currency = 'HTG' | 'USD';

/** Status of a transfer. `pending` changes to `completed` or `failed`, which are final. */
export type TransferStatus = 'pending' | 'completed' | 'failed';

/** Reason why a transfer failed. */
export interface TransferFailure {
  readonly code: string;
  readonly message: string;
}

/** A transfer as it is stored. Times are milliseconds since the Unix epoch. */
export interface TransferRecord extends Owner {
  /**
   * Unique id of the transfer, `tr_…`. Ids follow the time of creation only to the millisecond, so sort by
   * `createdAt`, then `id`.
   */
  readonly id: string;
  readonly status: TransferStatus;
  /** Amount in minor units, above zero and below 10^17, which a double cannot hold exactly. */
  readonly amount: bigint;
  readonly currency: Currency;
  readonly recipientKid: string;
  readonly description: string | null;
  /**
   * The partner's own reference, unique per partner and mode among the stored transfers; `null` if there is none.
   * Live transfers are stored for ever.
   */
  readonly reference: string | null;
  readonly metadata: JsonObject | null;
  readonly failure: TransferFailure | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt: number | null;
}

/** Selects transfers with `from <= createdAt < to`. `null` selects every partner, status, reference or time. */
export interface TransferSelection {
  readonly partner: string | null;
  readonly mode: Mode;
  readonly status: TransferStatus | null;
  readonly reference: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

/** Result of a request to create a transfer. */
export type TransferCreation =
  | { readonly outcome: 'created' }
  | ClaimOutcome
  /** Another transfer of this partner and mode already has the reference. */
  | { readonly outcome: 'reference_conflict'; readonly transferId: string };

/** Stores transfers of partners. */
export interface TransferStore {
  /**
   * Stores a pending transfer, the record of its `Idempotency-Key` and the job that executes it, in one
   * transaction. Of any number of concurrent calls with one key or one reference, over any number of
   * processes, exactly one returns `created`. Checks the key before the reference. Any result other than
   * `created` changes nothing.
   */
  create(creation: {
    readonly transfer: TransferRecord;
    readonly idempotency: IdempotencyClaim | null;
    readonly job: NewJob;
    readonly now: number;
  }): Promise<TransferCreation>;

  /** Returns a transfer; `null` if it is unknown or belongs to another owner. */
  find(owner: Owner, id: string): Promise<TransferRecord | null>;

  /** Returns a transfer of any partner, for workers and operators; `null` if it is unknown. */
  findById(id: string): Promise<TransferRecord | null>;

  /**
   * Lists transfers, newest first: by `createdAt` descending, then `id` descending; with `oldestFirst` the other way
   * round. Starts after the position `after` in that order, and returns at most `limit`.
   */
  list(
    request: TransferSelection & {
      /** True to list the oldest transfers first. @defaultValue false */
      readonly oldestFirst?: boolean;
      readonly after: ListPosition | null;
      readonly limit: number;
    },
  ): Promise<TransferRecord[]>;

  /** Counts transfers, and stops at `most`. */
  count(request: TransferSelection & { readonly most: number }): Promise<number>;

  /**
   * Makes a pending transfer final at `now` (sets `updatedAt`, and `completedAt` if completed) and returns
   * it. A transfer that is final already is returned unchanged with `settled: false`. Returns `null` for an
   * unknown id. Of concurrent calls exactly one settles the transfer, and its event is published in the same
   * transaction.
   */
  settle(settlement: {
    readonly id: string;
    readonly status: 'completed' | 'failed';
    readonly failure: TransferFailure | null;
    readonly event: NewEvent;
    readonly now: number;
  }): Promise<{ readonly transfer: TransferRecord; readonly settled: boolean } | null>;

  /**
   * Lists one page of an export of transfers: final ones with `from <= updatedAt < to`, by `updatedAt`, then
   * `id`, starting after a position, at most `limit`.
   */
  listFinal(
    request: Owner & {
      readonly from: number;
      readonly to: number;
      readonly after: ListPosition | null;
      readonly limit: number;
    },
  ): Promise<TransferRecord[]>;

  /**
   * Removes transfers in any state that were created before `before` or exceed a quota, by `createdAt`, then
   * `id`, at most `limit`. The references of removed transfers can be used again. Rows that another transaction has
   * locked stay. The quota's bytes count descriptions, references and metadata.
   * @returns the number of removed transfers
   */
  removeOldest(request: Owner & Quota & { readonly before: number; readonly limit: number }): Promise<number>;
}
