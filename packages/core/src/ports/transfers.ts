import type { NewEvent } from './events.ts';
import type { ClaimOutcome, IdempotencyClaim } from './idempotency.ts';
import type { JsonObject } from './interactions.ts';
import type { ListPosition, Quota } from './lists.ts';
import type { Owner } from './partners.ts';
import type { NewJob } from './queue.ts';

/** The currencies that transfers know. Amounts are integers of their minor units. */
export type Currency = 'HTG' | 'USD';

/** `pending` becomes `completed` or `failed`; both are final. */
export type TransferStatus = 'pending' | 'completed' | 'failed';

/** Reason for the failure of a transfer. */
export interface TransferFailure {
  readonly code: string;
  readonly message: string;
}

/** A transfer as it is stored. Times are milliseconds since the Unix epoch. */
export interface TransferRecord extends Owner {
  /** `tr_…`. Sorts by creation within a millisecond at best; order lists by `createdAt`, then `id`. */
  readonly id: string;
  readonly status: TransferStatus;
  /** Minor units, above zero, below 10^17: more than a double holds exactly. */
  readonly amount: bigint;
  readonly currency: Currency;
  readonly recipientKid: string;
  readonly description: string | null;
  /** The partner's own reference; unique per partner and mode for ever. */
  readonly reference: string | null;
  readonly metadata: JsonObject | null;
  readonly failure: TransferFailure | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt: number | null;
}

/** Result of a request to create a transfer. */
export type TransferCreation =
  | { readonly outcome: 'created' }
  | ClaimOutcome
  /** Another transfer of this partner and mode has the reference. */
  | { readonly outcome: 'reference_conflict'; readonly transferId: string };

/** Transfers. */
export interface TransferStore {
  /**
   * Stores a pending transfer, the record of its `Idempotency-Key` and the job that executes it, in one
   * transaction. Of any number of parallel calls with one key, or with one reference, over any number of
   * processes, exactly one answers `created`. The key is looked at before the reference. Anything else than
   * `created` changes nothing.
   */
  create(creation: {
    readonly transfer: TransferRecord;
    readonly idempotency: IdempotencyClaim | null;
    readonly job: NewJob;
    readonly now: number;
  }): Promise<TransferCreation>;

  /** `null` for an unknown transfer and for somebody else's. */
  find(owner: Owner, id: string): Promise<TransferRecord | null>;

  /** Any partner's transfer, for the worker. */
  findById(id: string): Promise<TransferRecord | null>;

  /**
   * Newest first: by `createdAt` descending, then `id` descending; what comes after `after`, at most `limit`.
   * `from` and `to` bound `createdAt`, `to` excluded.
   */
  list(
    request: Owner & {
      readonly status: TransferStatus | null;
      readonly reference: string | null;
      readonly from: number | null;
      readonly to: number | null;
      readonly after: ListPosition | null;
      readonly limit: number;
    },
  ): Promise<TransferRecord[]>;

  /**
   * Makes a pending transfer final at `now` (`updatedAt`, and `completedAt` of a completed one) and answers
   * it; one that is final already is answered as it is, with `settled: false`. `null` for an unknown id.
   * Atomic: of parallel calls one settles, and the event of that one is published in the same transaction,
   * as `events.publish` would.
   */
  settle(settlement: {
    readonly id: string;
    readonly status: 'completed' | 'failed';
    readonly failure: TransferFailure | null;
    readonly event: NewEvent;
    readonly now: number;
  }): Promise<{ readonly transfer: TransferRecord; readonly settled: boolean } | null>;

  /**
   * Final transfers with `from <= updatedAt < to`, by `updatedAt`, then `id`, after a position, at most
   * `limit`: one page of an export.
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
   * Removes transfers created before a time or beyond a quota, in any state, the oldest first and at most `limit`.
   * Their references can be used again. Rows that another transaction has locked stay. Descriptions, references and
   * metadata are the texts.
   * @returns how many were removed
   */
  removeOldest(request: Owner & Quota & { readonly before: number; readonly limit: number }): Promise<number>;
}
