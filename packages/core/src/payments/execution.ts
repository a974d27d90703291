import { ownerName } from '../limits/shares.ts';
import type { Core } from '../options/context.ts';
import type { PaymentRail, TransferOrder, TransferResult } from '../ports/payments.ts';
import type { JobHandler, NewJob } from '../ports/queue.ts';
import type { TransferRecord } from '../ports/transfers.ts';
import { count } from '../telemetry/telemetry.ts';
import { withDeadline } from '../time/deadline.ts';
import { checkedResult, finishTransfer } from './final.ts';
import { sandboxRail } from './sandbox-rail.ts';

/** Kind of the queue's job that executes one transfer. */
export const executionKind = 'transfer';

/**
 * Time in which the payment rail must return, in milliseconds. After it, the outcome counts as unknown.
 * Shorter than the lease of a job.
 */
export const executionTimeoutMs = 20_000;

/**
 * Returns the job that executes a transfer. It is stored with the transfer in one transaction.
 * @param traceparent - span of the request that ordered the transfer; `null` for none
 */
export function executionJob(transfer: TransferRecord, now: number, traceparent: string | null): NewJob {
  const { id } = transfer;
  const owner = ownerName(transfer);
  const payload = { transferId: id, ...(traceparent !== null && { traceparent }) };
  return { id: `transfer:${id}`, kind: executionKind, payload, dueAt: now, owner };
}

function orderOf(transfer: TransferRecord): TransferOrder {
  const { id, partner, mode, amount, currency, recipientKid, description, reference } = transfer;
  return { id, partner, mode, amount, currency, recipientKid, description, reference };
}

/**
 * Calls a payment rail for a transfer and checks its result. An error, a missing result or an invalid one
 * leaves the outcome unknown.
 */
async function ask(rail: PaymentRail, transfer: TransferRecord): Promise<TransferResult> {
  try {
    const execute = () =>
      rail.execute(orderOf(transfer), { signal: AbortSignal.timeout(executionTimeoutMs) });
    return checkedResult(
      'payments.execute',
      await withDeadline('payments.execute', execute, executionTimeoutMs / 1000)(),
    );
  } catch (error) {
    // Do not log here: the worker logs each job that it will try again.
    await count('ostiary.payments.execution.unknown');
    throw error;
  }
}

/**
 * Creates the job handler that executes transfers, at least once each, with the transfer's id as idempotency
 * key. If it throws, the transfer stays pending and the worker tries again, without a limit.
 */
export function executionHandler(core: Core, rail: PaymentRail): JobHandler {
  const { transfers } = core.storage;
  return async ({ transferId }) => {
    const transfer = await transfers.findById(String(transferId));
    if (transfer === null || transfer.status !== 'pending') return null;
    const result = await ask(transfer.mode === 'test' ? sandboxRail : rail, transfer);
    if (result.status === 'pending') {
      core.options.logger.info({ transfer: transfer.id }, 'the payment rail decides later');
      return null;
    }
    await finishTransfer(core, transfer, result);
    return null;
  };
}
