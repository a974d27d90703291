import { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { ClaimOutcome, IdempotencyClaim, StoredAnswer, StoredRequest } from '../ports/idempotency.ts';
import type { Owner } from '../ports/partners.ts';
import { equalDigests } from '../secrets/tokens.ts';

/** Another request with the same `Idempotency-Key` is under way, and its outcome is unknown. */
export class RequestInProgressError extends PartnerError {
  constructor() {
    super('internal_error', {
      status: 503,
      description: 'Another request with this Idempotency-Key is under way.',
      headers: { 'Retry-After': '1' },
    });
  }
}

export interface IdempotencyRequest {
  readonly key: string;
  readonly fingerprint: Uint8Array;
  /** Fingerprints under previous sealing keys. */
  readonly previous: readonly Uint8Array[];
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** A partner's request that takes effect once per `Idempotency-Key`. */
export interface RepeatableRequest extends Owner {
  /** `null` when the request carries no key. */
  readonly idempotency: IdempotencyRequest | null;
  readonly now: number;
}

/** The answer of a request that took effect, now or when it came first. */
export interface RepeatableAnswer extends StoredAnswer {
  readonly replayed: boolean;
}

/** Returns the record that is stored with the effect of a request; `null` if it has no key. */
export function claimOf({
  partner,
  mode,
  idempotency,
}: RepeatableRequest): Omit<IdempotencyClaim, 'answer'> | null {
  if (idempotency === null) return null;
  const { key, fingerprint, endsAt } = idempotency;
  return { partner, mode, key, fingerprint, endsAt };
}

/**
 * Checks whether this request took effect before.
 * @param known - the record of its key, where it was looked up already
 * @returns the answer of then, or `null`
 * @throws PartnerError `idempotency_conflict` when the key came with another payload
 */
export async function findReplay(
  core: Core,
  { idempotency, partner, mode, now }: RepeatableRequest,
  known?: StoredRequest | null,
): Promise<RepeatableAnswer | null> {
  if (idempotency === null) return null;
  const { key, fingerprint, previous } = idempotency;
  const earlier =
    known === undefined ? await core.storage.idempotency.find({ partner, mode, key, now }) : known;
  if (earlier === null) return null;
  // Records that were stored under a previous sealing key count too.
  if (![fingerprint, ...previous].some((candidate) => equalDigests(candidate, earlier.fingerprint)))
    throw new PartnerError('idempotency_conflict');
  return { ...earlier.answer, replayed: true };
}

/**
 * The answer of a request that did not take effect now.
 * @throws PartnerError `idempotency_conflict`
 * @throws RequestInProgressError
 */
export async function earlierAnswer(
  core: Core,
  request: RepeatableRequest,
  earlier: ClaimOutcome,
): Promise<RepeatableAnswer> {
  if (earlier.outcome === 'replayed') return { ...earlier.answer, replayed: true };
  if (earlier.outcome === 'in_progress') throw new RequestInProgressError();
  // The storage knows the key with another fingerprint: another process may have stored it under the sealing key of before.
  const replay = await findReplay(core, request);
  if (replay !== null) return replay;
  throw new PartnerError('idempotency_conflict');
}
