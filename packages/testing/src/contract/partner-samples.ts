import assert from 'node:assert/strict';
import type {
  ApiKeyRecord,
  IdempotencyClaim,
  NewEvent,
  NewJob,
  PartnerRecord,
  Storage,
  TransferCreation,
  TransferRecord,
  TransferStore,
} from '@ostiary/core/storage';
import { digestOf, hour, now } from './samples.ts';

/** Partner and mode to which the sample transfers, events and webhook endpoints belong. */
export const acme = { partner: 'acme', mode: 'live' } as const;

/** Request for the first page, with one row, of a list sorted by name. */
export const firstByName = { by: 'name', descending: false, after: null, limit: 1 } as const;

export function samplePartner(changes: Partial<PartnerRecord> = {}): PartnerRecord {
  return {
    slug: 'acme',
    name: 'Acme Pay',
    searchName: 'acme pay',
    createdAt: now - hour,
    updatedAt: now,
    disabledAt: null,
    version: 1,
    ...changes,
  };
}

export function sampleApiKey(label: string, changes: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    ...acme,
    id: `key_${label}`,
    name: 'Payments server',
    searchName: 'payments server',
    start: `svc_live_${label}`,
    digest: digestOf(`key ${label}`),
    scopes: ['payments:write', 'payments:read'],
    allowlist: ['192.0.2.0/24', '2001:db8::/32'],
    requireSignature: false,
    sealedSigningSecret: `sealed ${label}`,
    quotaId: `quota ${label}`,
    createdAt: now,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...changes,
  };
}

export function sampleTransfer(label: string, changes: Partial<TransferRecord> = {}): TransferRecord {
  return {
    ...acme,
    id: `tr_${label}`,
    status: 'pending',
    amount: 12_550n,
    currency: 'HTG',
    recipientKid: 'kid-1',
    description: 'Invoice 7',
    reference: null,
    metadata: null,
    failure: null,
    createdAt: now,
    updatedAt: now,
    completedAt: null,
    ...changes,
  };
}

export function sampleEvent(label: string, changes: Partial<NewEvent> = {}): NewEvent {
  return {
    ...acme,
    id: `evt_${label}`,
    type: 'payment.completed',
    body: `{"of":"${label}"}`,
    createdAt: now,
    deliveryId: `dl_${label}`,
    ...changes,
  };
}

export function sampleClaim(key: string, changes: Partial<IdempotencyClaim> = {}): IdempotencyClaim {
  return {
    ...acme,
    key,
    fingerprint: digestOf(`request ${key}`),
    answer: { status: 201, body: `{"of":"${key}"}` },
    endsAt: now + 24 * hour,
    ...changes,
  };
}

/** Returns the job that executes a transfer. */
export function executionOf({ id }: TransferRecord): NewJob {
  return { id: `execute ${id}`, kind: 'transfer', payload: { transferId: id }, dueAt: now };
}

export function create(
  { transfers }: Storage,
  transfer: TransferRecord,
  idempotency: IdempotencyClaim | null = null,
  at: number = now,
): Promise<TransferCreation> {
  return transfers.create({ transfer, idempotency, job: executionOf(transfer), now: at });
}

/** Stores a pending transfer of a sample partner. */
export async function created(
  storage: Storage,
  label: string,
  changes: Partial<TransferRecord> = {},
): Promise<TransferRecord> {
  const transfer = sampleTransfer(label, changes);
  assertOutcome(await create(storage, transfer), 'created');
  return transfer;
}

/** Makes a transfer final, and publishes its event. */
export function settle(
  { transfers }: Storage,
  settlement: Omit<Parameters<TransferStore['settle']>[0], 'event'>,
): ReturnType<TransferStore['settle']> {
  const { id, status, now: createdAt } = settlement;
  return transfers.settle({
    ...settlement,
    event: sampleEvent(`${status} ${id} ${createdAt}`, { type: `payment.${status}`, createdAt }),
  });
}

/** Stores a transfer that became final at `updatedAt`. */
export async function settled(
  storage: Storage,
  label: string,
  changes: Partial<TransferRecord> & { readonly updatedAt: number },
): Promise<void> {
  const { status = 'completed', failure = null, updatedAt, ...pending } = changes;
  assert.notEqual(status, 'pending');
  const { id } = await created(storage, label, pending);
  const settlement = {
    id,
    status: status === 'failed' ? status : 'completed',
    failure,
    now: updatedAt,
  } as const;
  assert.equal((await settle(storage, settlement))?.settled, true);
}

export function assertOutcome(creation: TransferCreation, outcome: TransferCreation['outcome']): void {
  assert.equal(creation.outcome, outcome);
}

/** Lists the ids of transfers whose execution is still in the queue. */
export async function executions({ queue }: Storage): Promise<string[]> {
  // Use a lease that ends at once, so that this read does not affect later claims.
  const jobs = await queue.claim({ kinds: ['transfer'], claimId: 'look', now, leaseMs: 0, limit: 10_000 });
  return jobs.map(({ payload }) => String(payload.transferId)).toSorted();
}

/** Asserts that a request stored nothing: no transfer, no job, and no record of its idempotency key. */
export async function assertNothingStored(
  storage: Storage,
  transfer: TransferRecord,
  claim: IdempotencyClaim | null = null,
): Promise<void> {
  assert.equal(await storage.transfers.findById(transfer.id), null, 'no transfer');
  assert.ok(!(await executions(storage)).includes(transfer.id), 'no job');
  if (claim !== null) assert.equal(await storage.idempotency.find({ ...claim, now }), null, 'no record');
}
