import type { Core } from '../context.ts';
import type { TransferFailure, TransferRecord } from '../ports/transfers.ts';
import { newEvent } from '../webhooks/outgoing.ts';
import { transferView } from './transfer.ts';

/** How a transfer ends. */
export type FinalState =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly failure: TransferFailure };

/** What ending a transfer needs. */
export type FinalContext = Pick<Core, 'clock' | 'random' | 'storage' | 'wake'>;

/** What every database keeps as it is: words of a host may have been cut within a character. */
function storable({ code, message }: TransferFailure): TransferFailure {
  const [storableCode = '', storableMessage = ''] = [code, message].map((text) =>
    text.toWellFormed().replaceAll('\0', '\ufffd'),
  );
  return { code: storableCode, message: storableMessage };
}

/**
 * Makes a pending transfer final, and publishes the event that tells of it in the same transaction. What the
 * event shows is known before: nothing but this changes a pending transfer.
 * @param pending - as it was read
 * @returns the transfer as it is now, and whether this call settled it; `null` for an unknown transfer
 */
export async function finishTransfer(
  context: FinalContext,
  pending: TransferRecord,
  state: FinalState,
): Promise<{ readonly transfer: TransferRecord; readonly settled: boolean } | null> {
  const now = context.clock.now();
  const failure = state.status === 'failed' ? storable(state.failure) : null;
  const final: TransferRecord = {
    ...pending,
    status: state.status,
    failure,
    updatedAt: now,
    completedAt: state.status === 'completed' ? now : null,
  };
  const event = newEvent(context, {
    partner: pending.partner,
    mode: pending.mode,
    type: `payment.${state.status}`,
    data: transferView(final),
    createdAt: now,
  });
  const { status } = state;
  const outcome = await context.storage.transfers.settle({ id: pending.id, status, failure, event, now });
  if (outcome?.settled === true) context.wake('deliveries');
  return outcome;
}
