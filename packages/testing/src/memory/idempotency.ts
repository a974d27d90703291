import type { IdempotencyClaim, IdempotencyOutcome, IdempotencyStore } from '@ostiary/core/storage';
import type { Step } from './step.ts';
import { bytesKey, ownedKey, type Tables } from './tables.ts';

export function memoryIdempotency(step: Step): IdempotencyStore {
  return {
    find: ({ now, ...claim }) => step((tables) => outcomeOf(tables, claim, now)),
  };
}

/** What an earlier request with this key says, or `null` when there is none that lives at `now`. */
export function outcomeOf(
  tables: Tables,
  claim: Pick<IdempotencyClaim, 'partner' | 'mode' | 'key' | 'fingerprint'>,
  now: number,
): IdempotencyOutcome | null {
  const row = tables.idempotency.get(ownedKey(claim, claim.key));
  if (row === undefined || row.expiresAt <= now) return null;
  if (row.fingerprint !== bytesKey(claim.fingerprint)) return { outcome: 'key_conflict' };
  return { outcome: 'replayed', answer: { ...row.answer } };
}

/** Keeps the answer of a request that takes effect; a record that has ended is overwritten. */
export function storeClaim(tables: Tables, claim: IdempotencyClaim): void {
  tables.idempotency.set(ownedKey(claim, claim.key), {
    fingerprint: bytesKey(claim.fingerprint),
    answer: { ...claim.answer },
    expiresAt: claim.endsAt,
  });
}
