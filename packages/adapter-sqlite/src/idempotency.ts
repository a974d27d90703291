import type {
  IdempotencyClaim,
  IdempotencyKey,
  IdempotencyOutcome,
  IdempotencyStore,
  Owner,
  Quota,
  StoredAnswer,
  StoredRequest,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';

type ClaimRow = Omit<IdempotencyClaim, 'answer'> & StoredAnswer;
type KeyLookup = IdempotencyKey & { readonly now: number };
/** An idempotency claim whose response may be known only after the change. */
type Claim = Omit<IdempotencyClaim, 'answer'> & { readonly answer?: StoredAnswer };

/** Outcomes of calls that changed something, whose responses are stored. */
const effects: ReadonlySet<string> = new Set(['created', 'published', 'queued']);

/** Creates transactions that take effect once per `Idempotency-Key`. */
export function sqliteClaims(database: Database) {
  const sql = database.prepare((connection) => ({
    find: connection.prepare<[KeyLookup], StoredAnswer & Pick<IdempotencyClaim, 'fingerprint'>>(`
      SELECT status, body, fingerprint FROM idempotency_records
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

  /** Returns the idempotency record of an earlier request that is valid at `now`, or `null`. */
  function find({ partner, mode, key, now }: KeyLookup): StoredRequest | null {
    const row = sql().find.get({ partner, mode, key, now });
    if (row === undefined) return null;
    const { fingerprint, ...answer } = row;
    return { fingerprint, answer };
  }

  return {
    find,

    /**
     * Runs a transaction that takes effect once per `Idempotency-Key`, and stores its response. An expired
     * record is overwritten.
     */
    async once<Outcome extends { readonly outcome: string; readonly answer?: StoredAnswer }>(
      given: Claim | null,
      now: number,
      work: () => Outcome,
    ): Promise<Outcome | IdempotencyOutcome> {
      if (given === null) return database.write(work);
      // Copy the claim, because the caller may change it while the write waits.
      const claim = { ...given, fingerprint: Buffer.from(given.fingerprint) };
      const answer = given.answer && { ...given.answer };
      return database.write(() => {
        const earlier = find({ ...claim, now });
        if (earlier !== null)
          return claim.fingerprint.equals(earlier.fingerprint)
            ? { outcome: 'replayed', answer: earlier.answer }
            : { outcome: 'key_conflict' };
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
  const sql = database.prepare((connection) => ({
    removeOldest: connection.prepare<[Owner & Quota & { readonly limit: number }]>(`
      DELETE FROM idempotency_records WHERE rowid IN (
        SELECT id FROM (
          SELECT rowid AS id, ends_at, key, row_number() OVER newest AS rows,
            sum(octet_length(key) + octet_length(body)) OVER newest AS bytes
          FROM idempotency_records WHERE partner = :partner AND mode = :mode
          WINDOW newest AS (ORDER BY ends_at DESC, key DESC ROWS UNBOUNDED PRECEDING)
        )
        WHERE rows > :rows OR bytes > :bytes
        ORDER BY ends_at, key LIMIT :limit
      )
    `),
  }));
  return {
    async find({ partner, mode, key, now }) {
      return database.read(() => claims.find({ partner, mode, key, now }));
    },

    removeOldest: ({ partner, mode, rows, bytes, limit }) =>
      database.write(() => sql().removeOldest.run({ partner, mode, rows, bytes, limit }).changes),
  };
}
