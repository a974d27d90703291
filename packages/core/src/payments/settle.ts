import type { Core } from '../options/context.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { checkedResult, finishTransfer, type Settlement } from './final.ts';
import { transferView } from './transfer-view.ts';

/** Settles transfers: reports the outcome of those that the host application's payment rail left pending. */
export interface PaymentAdministration {
  /**
   * Makes a pending transfer final. May be repeated: if the transfer is final already, it is returned
   * unchanged with `settled: false`.
   * @throws TypeError if the settlement is malformed
   * @returns the transfer, and whether this call made it final; `null` for an unknown transfer
   */
  settle(
    transferId: string,
    settlement: Settlement,
  ): Promise<{ readonly transfer: JsonObject; readonly settled: boolean } | null>;
}

/** Creates the functions of {@link PaymentAdministration}. */
export function paymentAdministration(core: Core): PaymentAdministration {
  return {
    async settle(transferId, settlement) {
      const end = checkedResult('payments.settle', settlement);
      if (end.status === 'pending') throw new TypeError('payments.settle: a pending transfer stays as it is');
      const transfer = await core.storage.transfers.findById(transferId);
      if (transfer === null) return null;
      const outcome = await finishTransfer(core, transfer, end);
      return outcome === null ? null : { transfer: transferView(outcome.transfer), settled: outcome.settled };
    },
  };
}
