import type { Core } from '../options/context.ts';
import type { FinalStatus, TransferResult } from '../ports/payments.ts';
import type { TransferFailure, TransferRecord } from '../ports/transfers.ts';
import { newEvent } from '../webhooks/outgoing.ts';
import { reportContradiction } from './contradiction.ts';
import { transferView } from './transfer-view.ts';

/** Final outcome of a transfer for which the host application had returned `pending`. */
export type Settlement =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/**
 * Checks the result that a payment rail returned or that the host application passed to `payments.settle`,
 * because only an explicit outcome may end a transfer.
 * @throws TypeError if the result is invalid
 */
export function checkedResult(call: string, result: TransferResult): TransferResult {
  const status: unknown = result?.status;
  if (status === 'completed' || status === 'pending') return { status };
  if (
    status === 'failed' &&
    'code' in result &&
    typeof result.code === 'string' &&
    typeof result.message === 'string'
  ) {
    return { status, code: result.code, message: result.message };
  }
  throw new TypeError(`${call}: the status has to be completed, failed with code and message, or pending`);
}

/**
 * Shortens a text to `most` UTF-16 code units. Replaces U+0000 and halves of surrogate pairs with U+FFFD,
 * because not every database can store them.
 */
const storable = (text: string, most: number): string =>
  text.slice(0, most).toWellFormed().replaceAll('\0', '\ufffd');

function failureOf(end: Settlement): TransferFailure | null {
  if (end.status === 'completed') return null;
  return { code: storable(end.code, 64), message: storable(end.message, 500) };
}

function isFinal(transfer: TransferRecord): transfer is TransferRecord & { readonly status: FinalStatus } {
  return transfer.status !== 'pending';
}

/**
 * Makes a pending transfer final and publishes its event in the same transaction. The event can be built
 * before the transaction, because only this function changes a pending transfer. If the transfer is already
 * final with the opposite outcome, reports the contradiction.
 * @param pending - the transfer as it was read, before this call
 * @returns the transfer as it is now, and whether this call made it final; `null` for an unknown transfer
 */
export async function finishTransfer(
  core: Core,
  pending: TransferRecord,
  end: Settlement,
): Promise<{ readonly transfer: TransferRecord; readonly settled: boolean } | null> {
  const now = core.clock.now();
  const { status } = end;
  const failure = failureOf(end);
  const final: TransferRecord = {
    ...pending,
    status,
    failure,
    updatedAt: now,
    completedAt: status === 'completed' ? now : null,
  };
  const event = newEvent(core, {
    partner: pending.partner,
    mode: pending.mode,
    type: `payment.${status}`,
    data: transferView(final),
    createdAt: now,
  });
  const outcome = await core.storage.transfers.settle({ id: pending.id, status, failure, event, now });
  if (outcome?.settled === true) core.notifyWorkers('deliveries');
  if (outcome?.settled === false) {
    const { transfer } = outcome;
    if (isFinal(transfer) && transfer.status !== status) await reportContradiction(core, transfer, status);
  }
  return outcome;
}
