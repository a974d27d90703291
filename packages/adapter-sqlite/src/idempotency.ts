import type {
  IdempotencyClaim,
  IdempotencyOutcome,
  IdempotencyStore,
  StoredAnswer,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';

type ClaimRow = Omit<IdempotencyClaim, 'answer'> & StoredAnswer;
type ClaimLookup = Pick<IdempotencyClaim, 'partner' | 'mode' | 'key' | 'fingerprint'> & {
  readonly now: number;
};
/** A claim, whose answer may become known with the outcome only. */
type Claim = Omit<IdempotencyClaim, 'answer'> & { readonly answer?: StoredAnswer };

/** Outcomes of requests that have taken effect: their answers are kept. */
const effects: ReadonlySet<string> = new Set(['created', 'published', 'queued']);

/** What an `Idempotency-Key` decides. */
export function sqliteClaims(database: Database) {
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

  /** What an earlier request with this key says, or `null` when there is none that lives at `now`. */
  function outcomeOf({ partner, mode, key, fingerprint, now }: ClaimLookup): IdempotencyOutcome | null {
    const row = sql().find.get({ partner, mode, key, fingerprint, now });
    if (row === undefined) return null;
    const { status, body, same } = row;
    return same === 1 ? { outcome: 'replayed', answer: { status, body } } : { outcome: 'key_conflict' };
  }

  return {
    outcomeOf,

    /** A transaction that takes effect once per key, and keeps its answer; a record that has ended is overwritten. */
    async once<Outcome extends { readonly outcome: string; readonly answer?: StoredAnswer }>(
      given: Claim | null,
      now: number,
      work: () => Outcome,
    ): Promise<Outcome | IdempotencyOutcome> {
      if (given === null) return database.write(work);
      // Copies: the caller may go on with what it gave while the write waits.
      const claim = { ...given, fingerprint: Buffer.from(given.fingerprint) };
      const answer = given.answer && { ...given.answer };
      return database.write(() => {
        const earlier = outcomeOf({ ...claim, now });
        if (earlier !== null) return earlier;
        const result = work();
        const kept = result.answer ?? answer;
        if (kept !== undefined && effects.has(result.outcome)) sql().store.run({ ...claim, ...kept });
        return result;
      });
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
