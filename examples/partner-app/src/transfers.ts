import type * as Sdk from '@ostiary/client-sdk';

/** Members of a transfer that the shop shows. */
export type Transfer = Pick<Sdk.Transfer, 'id' | 'status' | 'amount' | 'currency' | 'failure' | 'createdAt'>;

/** Latest known states of the shop's payments, from API responses and webhooks. */
export type Transfers = ReturnType<typeof createTransfers>;

const maximum = 10_000;

export function createTransfers() {
  const known = new Map<string, Transfer>();
  return {
    /**
     * Stores the state of a transfer. A webhook may arrive before the response to the request that caused it,
     * so a final state is kept even if a pending state arrives later.
     */
    remember(transfer: Transfer): void {
      const before = known.get(transfer.id);
      if (before !== undefined && before.status !== 'pending') return;
      known.set(transfer.id, transfer);
      // A Map keeps the order of insertion, so the first transfer is the oldest.
      const [oldest] = known.keys();
      if (oldest !== undefined && known.size > maximum) known.delete(oldest);
    },
    get: (id: string): Transfer | undefined => known.get(id),
  };
}
