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

/** What became of an execution. Only an explicit `failed` makes the transfer fail. */
export type TransferResult =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }
  /** Decided later: the host calls `ostiary.payments.settle`. */
  | { readonly status: 'pending' };

/** The host's way of moving money. */
export interface PaymentRail {
  /**
   * Executes a transfer, at least once. A rejection, or no answer until the signal aborts, means that nobody
   * knows: the transfer stays pending and is tried again with the same id.
   */
  execute(order: TransferOrder, options: { readonly signal: AbortSignal }): Promise<TransferResult>;
}
