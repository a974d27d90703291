import type { Core } from '../options/context.ts';
import type { FinalStatus, TransferResult } from '../ports/payments.ts';
import type { TransferFailure, TransferRecord } from '../ports/transfers.ts';
import { newEvent } from '../webhooks/outgoing.ts';
import { reportContradiction } from './contradiction.ts';
import { transferView } from './transfer.ts';

/** How a transfer ends: what the host says about one that it left pending. */
export type Settlement =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/**
 * What a host says of a transfer is checked: only what is explicit may end one.
 * @throws TypeError
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

/** What every database keeps as it is: the cut may go through a character. */
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
 * Makes a pending transfer final, and publishes the event that tells of it in the same transaction. What the
 * event shows is known before: nothing but this changes a pending transfer. If the transfer is final already and its outcome is the
 * opposite, the contradiction is reported.
 * @param pending - as it was read
 * @returns the transfer as it is now, and whether this call settled it; `null` for an unknown transfer
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
  if (outcome?.settled === true) core.wake('deliveries');
  if (outcome?.settled === false) {
    const { transfer } = outcome;
    if (isFinal(transfer) && transfer.status !== status) await reportContradiction(core, transfer, status);
  }
  return outcome;
}
