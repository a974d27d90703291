import { PartnerError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { ClaimOutcome, IdempotencyClaim, StoredAnswer, StoredRequest } from '../ports/idempotency.ts';
import type { Owner } from '../ports/partners.ts';
import { equalDigests } from '../secrets/tokens.ts';

/**
 * Thrown while another request with the same `Idempotency-Key` is still running, so that its result is
 * unknown.
 */
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
  /**
   * Fingerprints of this request computed with previous sealing keys, under which an earlier request may be
   * stored.
   */
  readonly previous: readonly Uint8Array[];
  /** Time at which the idempotency record expires, in milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** A partner's request that takes effect at most once per `Idempotency-Key`. */
export interface RepeatableRequest extends Owner {
  /** Idempotency key and fingerprint of the request; `null` if it has no key. */
  readonly idempotency: IdempotencyRequest | null;
  readonly now: number;
}

/**
 * Response of a request that took effect: this request, or an earlier one with the same `Idempotency-Key`.
 */
export interface RepeatableAnswer extends StoredAnswer {
  readonly replayed: boolean;
}

/**
 * Returns the idempotency record to store together with a request's changes; `null` if the request has no
 * `Idempotency-Key`.
 */
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
 * Searches for an earlier request with the same `Idempotency-Key` that took effect.
 * @param known - the stored record of the key, if it was read already
 * @returns the stored response, or `null` if no request with this key took effect
 * @throws PartnerError `idempotency_conflict` if the key was used with another payload
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
  // Compare with fingerprints under previous sealing keys too: the record may be older than the current key.
  if (![fingerprint, ...previous].some((candidate) => equalDigests(candidate, earlier.fingerprint)))
    throw new PartnerError('idempotency_conflict');
  return { ...earlier.answer, replayed: true };
}

/**
 * Returns the stored response if a request with the same key took effect earlier.
 * @throws PartnerError `idempotency_conflict` if the key was used with another payload
 * @throws RequestInProgressError if a request with this key is still running
 */
export async function earlierAnswer(
  core: Core,
  request: RepeatableRequest,
  earlier: ClaimOutcome,
): Promise<RepeatableAnswer> {
  if (earlier.outcome === 'replayed') return { ...earlier.answer, replayed: true };
  if (earlier.outcome === 'in_progress') throw new RequestInProgressError();
  // The storage reports another fingerprint, which may come from a process with another sealing key: compare
  // again with all fingerprints.
  const replay = await findReplay(core, request);
  if (replay !== null) return replay;
  throw new PartnerError('idempotency_conflict');
}
