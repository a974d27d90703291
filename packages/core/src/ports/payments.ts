import type { Mode } from './partners.ts';
import type { Currency } from './transfers.ts';

/** A transfer as the rail is asked to execute it. */
export interface TransferOrder {
  /** The idempotency key of the execution: the rail may be asked several times, and must move money once. */
  readonly id: string;
  /** Slug of the partner that pays. */
  readonly partner: string;
  readonly mode: Mode;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: Currency;
  readonly recipientKid: string;
  readonly description: string | null;
  readonly reference: string | null;
}

/** Result of an execution. Only an explicit `failed` makes the transfer fail. */
export type TransferResult =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }
  /** Decided later: the host calls `ostiary.payments.settle`. */
  | { readonly status: 'pending' };

/** A final outcome of a transfer. */
export type FinalStatus = 'completed' | 'failed';

/** A transfer that was given two different outcomes: money may have moved, or not, against what is stored. */
export interface TransferContradiction {
  /** `tr_…` */
  readonly id: string;
  /** Slug of the partner that pays. */
  readonly partner: string;
  readonly mode: Mode;
  /** The first outcome, which stays. */
  readonly kept: FinalStatus;
  /** The outcome that came later, and changed nothing. */
  readonly reported: FinalStatus;
}

/** The host's way of moving money. */
export interface PaymentRail {
  /**
   * Executes a transfer, at least once. If it rejects, or does not return until the signal aborts, the
   * outcome is unknown: the transfer stays pending and is retried with the same id.
   */
  execute(order: TransferOrder, options: { readonly signal: AbortSignal }): Promise<TransferResult>;

  /**
   * Called when a final transfer gets the opposite outcome, by `execute` or by `payments.settle`. The first
   * outcome stays, and a person must find out whether money moved. The audit log has it too, as
   * `transfer.contradiction`.
   * @defaultValue none: error log, audit log and the metric `ostiary.payments.contradiction` only
   */
  onContradiction?(contradiction: TransferContradiction): Promise<void> | void;
}
