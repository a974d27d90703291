import { actsOf } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { FinalStatus } from '../ports/payments.ts';
import type { TransferRecord } from '../ports/transfers.ts';
import { count } from '../telemetry/telemetry.ts';
import { withDeadline } from '../time/deadline.ts';

/**
 * Reports that a final transfer got the opposite outcome: money may have moved for a transfer that is stored
 * as failed, or not have moved for a completed one. The stored outcome stays. A person must investigate, so
 * the contradiction is logged as an error, counted, written to the audit log, and passed to the host
 * application.
 *
 * @param reported - the outcome that was reported second
 */
export async function reportContradiction(
  core: Core,
  transfer: TransferRecord & { readonly status: FinalStatus },
  reported: FinalStatus,
): Promise<void> {
  const { logger, payments, hostTimeoutSeconds } = core.options;
  const { id, partner, mode, status: kept } = transfer;
  logger.error(
    { transfer: id, partner, mode, kept, reported },
    'a transfer was given two different outcomes',
  );
  await count('ostiary.payments.contradiction');
  const details = { partner, mode, kept, reported };
  await core.storage.audit.append(actsOf(core, 'host')('transfer.contradiction', `transfer:${id}`, details));
  if (payments?.onContradiction === undefined) return;
  const notify = payments.onContradiction.bind(payments);
  try {
    await withDeadline('payments.onContradiction', notify, hostTimeoutSeconds)({ id, ...details });
  } catch (error) {
    // Only log it: the audit log has the contradiction already, and the transfer's outcome does not depend on
    // this call.
    logger.error({ err: error, transfer: id }, 'payments.onContradiction failed');
  }
}
