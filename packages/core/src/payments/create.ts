import type { Core } from '../context.ts';
import { PartnerError } from '../errors.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { Mode } from '../ports/partners.ts';
import type { Currency, TransferRecord } from '../ports/transfers.ts';
import { executionJob } from './execution.ts';
import { parseAmount } from './money.ts';
import { transferView } from './transfer.ts';

/** A checked request to pay somebody. */
export interface TransferRequest {
  readonly partner: string;
  readonly mode: Mode;
  readonly amount: string;
  readonly currency: Currency;
  readonly recipientKid: string;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: JsonObject | null;
  readonly idempotency: {
    readonly key: string;
    readonly fingerprint: Uint8Array;
    /** What the fingerprint was under previous sealing keys. */
    readonly previous: readonly Uint8Array[];
    readonly endsAt: number;
  } | null;
  readonly now: number;
}

/** The answer of a request that took effect, now or when it came first. */
export interface CreatedTransfer extends StoredAnswer {
  readonly replayed: boolean;
}

/**
 * Looks whether this request took effect before.
 * @returns the answer of then, or `null`
 * @throws PartnerError `idempotency_conflict` when the key came with another payload
 */
export async function findReplay(
  core: Core,
  request: Pick<TransferRequest, 'partner' | 'mode' | 'idempotency' | 'now'>,
): Promise<CreatedTransfer | null> {
  const { idempotency, partner, mode, now } = request;
  if (idempotency === null) return null;
  const { key, fingerprint, previous } = idempotency;
  for (const candidate of [fingerprint, ...previous]) {
    const earlier = await core.storage.idempotency.find({ partner, mode, key, fingerprint: candidate, now });
    if (earlier === null) return null;
    if (earlier.outcome === 'replayed') return { ...earlier.answer, replayed: true };
  }
  throw new PartnerError('idempotency_conflict');
}

/**
 * Stores a pending transfer with its execution and the answer for replays, in one transaction.
 * @throws PartnerError `idempotency_conflict`
 */
export async function createTransfer(core: Core, request: TransferRequest): Promise<CreatedTransfer> {
  const { partner, mode, now, idempotency } = request;
  const transfer: TransferRecord = {
    id: `tr_${core.random.bytes(16).toString('hex')}`,
    partner,
    mode,
    status: 'pending',
    amount: parseAmount(request.amount),
    currency: request.currency,
    recipientKid: request.recipientKid,
    description: request.description,
    reference: request.reference,
    metadata: request.metadata,
    failure: null,
    createdAt: now,
    updatedAt: now,
    completedAt: null,
  };
  const answer: StoredAnswer = { status: 201, body: JSON.stringify(transferView(transfer)) };
  const claimOf = ({ key, fingerprint, endsAt }: NonNullable<typeof idempotency>) => ({
    partner,
    mode,
    key,
    fingerprint,
    endsAt,
    answer,
  });
  const creation = await core.storage.transfers.create({
    transfer,
    idempotency: idempotency === null ? null : claimOf(idempotency),
    job: executionJob(transfer.id, now),
    now,
  });
  switch (creation.outcome) {
    case 'created':
      return { ...answer, replayed: false };
    case 'replayed':
      return { ...creation.answer, replayed: true };
    case 'key_conflict': {
      // Another process may have been faster with the sealing key of before.
      const replay = await findReplay(core, request);
      if (replay !== null) return replay;
      throw new PartnerError('idempotency_conflict');
    }
    case 'reference_conflict':
      throw new PartnerError('idempotency_conflict', {
        description: 'The reference belongs to another transfer.',
        details: [{ path: 'reference', message: creation.transferId }],
      });
  }
}
