import type * as Sdk from '@ostiary/client-sdk';

/** A transfer, as far as the shop shows it. */
export type Transfer = Pick<Sdk.Transfer, 'id' | 'status' | 'amount' | 'currency' | 'failure' | 'createdAt'>;

/** States of the shop's payments, from responses of the API and from webhooks. */
export type Transfers = ReturnType<typeof createTransfers>;

const maximum = 10_000;

export function createTransfers() {
  const known = new Map<string, Transfer>();
  return {
    /**
     * Keeps the latest state. A webhook may arrive before the response to the request that caused it, so a
     * final state stays, even if another arrives later.
     */
    remember(transfer: Transfer): void {
      const before = known.get(transfer.id);
      if (before !== undefined && before.status !== 'pending') return;
      known.set(transfer.id, transfer);
      // A Map keeps the order of insertion, so the first one is the oldest.
      const [oldest] = known.keys();
      if (oldest !== undefined && known.size > maximum) known.delete(oldest);
    },
    get: (id: string): Transfer | undefined => known.get(id),
  };
}
