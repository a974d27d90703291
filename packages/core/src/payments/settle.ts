import type { Core } from '../context.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { finishTransfer, type Settlement } from './final.ts';
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
      const failed = settlement.status === 'failed';
      if (!failed && settlement.status !== 'completed')
        throw new TypeError('status: has to be completed or failed');
      if (failed && (typeof settlement.code !== 'string' || typeof settlement.message !== 'string')) {
        throw new TypeError('a failed transfer needs a code and a message');
      }
      const transfer = await core.storage.transfers.findById(transferId);
      if (transfer === null) return null;
      const outcome = await finishTransfer(core, transfer, settlement);
      return outcome === null ? null : { transfer: transferView(outcome.transfer), settled: outcome.settled };
    },
  };
}
