import { PartnerError } from '../errors.ts';
import {
  claimOf,
  earlierAnswer,
  type RepeatableAnswer,
  type RepeatableRequest,
} from '../idempotency/repeatable-request.ts';
import type { Core } from '../options/context.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import type { TransferRecord } from '../ports/transfers.ts';
import { newId } from '../secrets/random.ts';
import { executionJob } from './execution.ts';
import { transferView } from './transfer-view.ts';

/**
 * Stores a pending transfer with the job that executes it and the response for repeated requests, in one
 * transaction.
 * @throws PartnerError `idempotency_conflict` if the key was used with another payload, or the reference for
 * another transfer
 * @throws RequestInProgressError if a request with this key is still running
 */
export async function createTransfer(
  core: Core,
  request: RepeatableRequest,
  order: Pick<
    TransferRecord,
    'amount' | 'currency' | 'recipientKid' | 'description' | 'reference' | 'metadata'
  >,
): Promise<RepeatableAnswer> {
  const { partner, mode, now } = request;
  const transfer: TransferRecord = {
    ...order,
    id: newId('tr', core.random, now),
    partner,
    mode,
    status: 'pending',
    failure: null,
    createdAt: now,
    updatedAt: now,
    completedAt: null,
  };
  const answer: StoredAnswer = { status: 201, body: JSON.stringify(transferView(transfer)) };
  const claim = claimOf(request);
  const creation = await core.storage.transfers.create({
    transfer,
    idempotency: claim && { ...claim, answer },
    job: executionJob(transfer, now, core.telemetry?.traceparent() ?? null),
    now,
  });
  switch (creation.outcome) {
    case 'created':
      core.notifyWorkers('jobs');
      return { ...answer, replayed: false };
    case 'reference_conflict':
      throw new PartnerError('idempotency_conflict', {
        description: 'The reference belongs to another transfer.',
        details: [{ path: 'reference', message: creation.transferId }],
      });
    default:
      return earlierAnswer(core, request, creation);
  }
}
