import type { Core } from '../options/context.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { checkedResult, finishTransfer, type Settlement } from './final.ts';
import { transferView } from './transfer.ts';

/** For hosts whose payment rail decides later. */
export interface PaymentAdministration {
  /**
   * Makes a pending transfer final. Repeatable: a transfer that is final already is answered as it is, with
   * `settled: false`.
   * @throws TypeError when the settlement is malformed
   * @returns `null` for an unknown transfer
   */
  settle(
    transferId: string,
    settlement: Settlement,
  ): Promise<{ readonly transfer: JsonObject; readonly settled: boolean } | null>;
}

/** See {@link PaymentAdministration}. */
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
