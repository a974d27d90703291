import type { IdempotencyClaim, IdempotencyOutcome, IdempotencyStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';

type ClaimRow = Omit<IdempotencyClaim, 'answer'> & { readonly status: number; readonly body: string };
type ClaimLookup = Pick<IdempotencyClaim, 'partner' | 'mode' | 'key' | 'fingerprint'> & {
  readonly now: number;
};

/** The look at an idempotency key and the record of it, inside a transaction that is under way. */
export interface Claims {
  /** What an earlier request with this key says, or `null` when there is none that lives at `now`. */
  outcomeOf(lookup: ClaimLookup): IdempotencyOutcome | null;
  /** Keeps the answer of a request that takes effect; a record that has ended is overwritten. */
  store(row: ClaimRow): void;
}

export function sqliteClaims(database: Database): Claims {
  const sql = database.prepare((connection) => ({
    find: connection.prepare<[ClaimLookup], { status: number; body: string; same: 0 | 1 }>(`
      SELECT status, body, fingerprint = :fingerprint AS same FROM idempotency_records
      WHERE partner = :partner AND mode = :mode AND key = :key AND ends_at > :now
    `),

    store: connection.prepare<[ClaimRow]>(`
      INSERT INTO idempotency_records (partner, mode, key, fingerprint, status, body, ends_at)
      VALUES (:partner, :mode, :key, :fingerprint, :status, :body, :endsAt)
      ON CONFLICT (partner, mode, key) DO UPDATE SET
        fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
        ends_at = excluded.ends_at
    `),
  }));

  return {
    outcomeOf({ partner, mode, key, fingerprint, now }) {
      const row = sql().find.get({ partner, mode, key, fingerprint, now });
      if (row === undefined) return null;
      const { status, body, same } = row;
      return same === 1 ? { outcome: 'replayed', answer: { status, body } } : { outcome: 'key_conflict' };
    },

    store(row) {
      sql().store.run(row);
    },
  };
}

export function sqliteIdempotency(database: Database): IdempotencyStore {
  const claims = sqliteClaims(database);
  return {
    async find(request) {
      const lookup = { ...request, fingerprint: Buffer.from(request.fingerprint) };
      return database.read(() => claims.outcomeOf(lookup));
    },
  };
}

/** A copy of a claim: its caller may go on with the bytes while the write waits. */
export function claimRowOf({ answer, fingerprint, ...claim }: IdempotencyClaim): ClaimRow {
  return { ...claim, fingerprint: Buffer.from(fingerprint), status: answer.status, body: answer.body };
}
