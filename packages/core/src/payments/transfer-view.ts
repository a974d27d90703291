import type { JsonObject } from '../ports/interactions.ts';
import type { TransferRecord } from '../ports/transfers.ts';
import { iso } from '../time/clock.ts';
import { formatAmount } from './money.ts';

/** Returns a transfer in the form that partners see, which is the same in responses, lists and events. */
export function transferView(transfer: TransferRecord): JsonObject {
  return {
    id: transfer.id,
    status: transfer.status,
    mode: transfer.mode,
    amount: formatAmount(transfer.amount),
    currency: transfer.currency,
    recipient: { kid: transfer.recipientKid },
    description: transfer.description,
    reference: transfer.reference,
    metadata: transfer.metadata,
    failure: transfer.failure,
    createdAt: iso(transfer.createdAt),
    updatedAt: iso(transfer.updatedAt),
    completedAt: transfer.completedAt === null ? null : iso(transfer.completedAt),
  };
}
