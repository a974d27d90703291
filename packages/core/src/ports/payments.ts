import type { Mode } from './partners.ts';
import type { Currency } from './transfers.ts';

/** A transfer that the payment rail is asked to execute. */
export interface TransferOrder {
  /**
   * Id of the transfer. Use it as the idempotency key of the execution: the rail may be called several times
   * for one transfer, and must move money once.
   */
  readonly id: string;
  /** Slug of the partner that ordered the transfer. */
  readonly partner: string;
  readonly mode: Mode;
  /** Amount in minor units of the currency. */
  readonly amount: bigint;
  readonly currency: Currency;
  readonly recipientKid: string;
  readonly description: string | null;
  readonly reference: string | null;
}

/** Result of executing a transfer. Only an explicit `failed` makes the transfer fail. */
export type TransferResult =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }
  /** The outcome is not known yet: the host application calls `ostiary.payments.settle` later. */
  | { readonly status: 'pending' };

/** A final outcome of a transfer. */
export type FinalStatus = 'completed' | 'failed';

/**
 * Two different outcomes that were reported for one transfer. Money may have moved, or not, contrary to the
 * stored outcome.
 */
export interface TransferContradiction {
  /** Id of the transfer: `tr_…`. */
  readonly id: string;
  /** Slug of the partner that ordered the transfer. */
  readonly partner: string;
  readonly mode: Mode;
  /** The outcome that was reported first, which stays stored. */
  readonly kept: FinalStatus;
  /** The outcome that was reported later and changed nothing. */
  readonly reported: FinalStatus;
}

/** Moves money on behalf of Ostiary; implemented by the host application. */
export interface PaymentRail {
  /**
   * Executes a live transfer; may be called several times for one transfer, and never for one in test mode.
   * If it rejects, or has not returned when the signal aborts, the outcome is unknown: the transfer stays
   * pending and is retried with the same id.
   */
  execute(order: TransferOrder, options: { readonly signal: AbortSignal }): Promise<TransferResult>;

  /**
   * Called when a final transfer gets the opposite outcome, from `execute` or from `payments.settle`. The
   * first outcome stays, and a person must find out whether money moved. The audit log records the case as
   * `transfer.contradiction`.
   * @defaultValue none: error log, audit log and the metric `ostiary.payments.contradiction` only
   */
  onContradiction?(contradiction: TransferContradiction): Promise<void> | void;
}
