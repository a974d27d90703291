import type {
  ClaimOutcome,
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
import { isLockTimeout } from './errors.ts';
import { type Connection, lookup, prepared, statement } from './statement.ts';
import { callTimeoutMs, lockTimeoutMs, longTimeoutMs } from './timeouts.ts';

type ClaimRow = Omit<IdempotencyClaim, 'answer'> & StoredAnswer;
type Found = StoredAnswer & Pick<IdempotencyClaim, 'fingerprint'>;
/** An idempotency claim whose response may be known only after the change. */
type Claim = Omit<IdempotencyClaim, 'answer'> & { readonly answer?: StoredAnswer };

/** Outcomes of calls that changed something. A call with any other outcome stores nothing. */
const effects: ReadonlySet<string> = new Set(['created', 'published', 'queued']);

/**
 * Placeholder for a response until the transaction has computed the real response. No other transaction ever
 * reads it.
 */
const unanswered: StoredAnswer = { status: 0, body: '' };

/**
 * Creates transactions that take effect once per `Idempotency-Key`. They wait for a running request with the
 * same key; if that takes too long, the result is `in_progress`. An expired record is overwritten.
 */
export function postgresClaims(database: Database) {
  const { schema } = database;
  // A valid record stays unchanged, but its row is locked, so that it cannot be purged now.
  const take = prepared<ClaimRow & { readonly now: number }>(`
    INSERT INTO ${schema}.idempotency_records AS record
      (partner, mode, key, fingerprint, status, body, ends_at)
    VALUES (:partner, :mode, :key, :fingerprint, :status, :body, :endsAt)
    ON CONFLICT (partner, mode, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
      ends_at = excluded.ends_at
    WHERE record.ends_at <= :now
  `);

  const earlier = prepared<IdempotencyKey, Found>(`
    SELECT status, body, fingerprint FROM ${schema}.idempotency_records
    WHERE partner = :partner AND mode = :mode AND key = :key
  `);

  const answer = prepared<IdempotencyKey & StoredAnswer>(`
    UPDATE ${schema}.idempotency_records SET status = :status, body = :body
    WHERE partner = :partner AND mode = :mode AND key = :key
  `);

  return async <Outcome extends { readonly outcome: string; readonly answer?: StoredAnswer }>(
    given: Claim | null,
    now: number,
    work: (connection: Connection) => Promise<Outcome>,
  ): Promise<Outcome | ClaimOutcome> => {
    // Copy the bytes, because the caller may change them while the write waits.
    const claim = given && {
      ...given,
      ...(given.answer ?? unanswered),
      fingerprint: Buffer.from(given.fingerprint),
    };
    const end: { rolledBack: Outcome | ClaimOutcome | null } = { rolledBack: null };
    /** Ends the transaction with a result, and discards its changes. */
    const rollBack = (outcome: Outcome | ClaimOutcome): never => {
      end.rolledBack = outcome;
      throw new Error('there is nothing to change');
    };

    async function takeAndWork(connection: Connection): Promise<Outcome | ClaimOutcome> {
      if (claim !== null) {
        const taken = await take.run(connection, { ...claim, now }).catch((error: unknown) => {
          if (isLockTimeout(error)) return rollBack({ outcome: 'in_progress' });
          throw error;
        });
        // A separate statement, which sees the commit of the request for which this one waited.
        const known = taken === 1 ? undefined : await earlier.get(connection, claim);
        if (known !== undefined) return outcomeOf(claim, storedOf(known));
      }
      const result = await work(connection);
      if (!effects.has(result.outcome)) rollBack(result);
      if (claim !== null && result.answer !== undefined)
        await answer.run(connection, { ...claim, ...result.answer });
      return result;
    }

    try {
      return await database.write(takeAndWork, callTimeoutMs, claim === null ? callTimeoutMs : lockTimeoutMs);
    } catch (error) {
      if (end.rolledBack === null) throw error;
      return end.rolledBack;
    }
  };
}

export function postgresIdempotency(database: Database): IdempotencyStore {
  const { schema } = database;
  const find = lookup<IdempotencyKey & { readonly now: number }, Found>(
    { partner: 'text', mode: 'text', key: 'text', now: 'bigint' },
    `
    SELECT status, body, fingerprint FROM ${schema}.idempotency_records
    WHERE partner = :partner AND mode = :mode AND key = :key AND ends_at > :now
  `,
  );

  const oldest = statement<Owner & Quota & { readonly limit: number }>(`
    DELETE FROM ${schema}.idempotency_records WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM ${schema}.idempotency_records
      WHERE partner = :partner AND mode = :mode AND key IN (
        SELECT key FROM (
          SELECT key, ends_at, row_number() OVER newest AS rows,
            sum(octet_length(key) + octet_length(body)) OVER newest AS bytes
          FROM ${schema}.idempotency_records WHERE partner = :partner AND mode = :mode
          WINDOW newest AS (ORDER BY ends_at DESC, key DESC ROWS UNBOUNDED PRECEDING)
        ) AS counted
        WHERE rows > :rows OR bytes > :bytes
        ORDER BY ends_at, key LIMIT :limit
      )
      FOR UPDATE SKIP LOCKED
    ))
  `);

  return {
    async find({ partner, mode, key, now }) {
      const row = await database.get(find, { partner, mode, key, now });
      return row && storedOf(row);
    },

    removeOldest: ({ partner, mode, rows, bytes, limit }) =>
      database.change(
        (connection) => oldest.run(connection, { partner, mode, rows, bytes, limit }),
        longTimeoutMs,
      ),
  };
}

function storedOf({ fingerprint, status, body }: Found): StoredRequest {
  return { fingerprint, answer: { status, body } };
}

/** Compares a request with the stored record of its `Idempotency-Key`, and returns the outcome. */
export function outcomeOf(
  { fingerprint }: Pick<IdempotencyClaim, 'fingerprint'>,
  stored: StoredRequest,
): IdempotencyOutcome {
  const isSame = Buffer.compare(fingerprint, stored.fingerprint) === 0;
  return isSame ? { outcome: 'replayed', answer: stored.answer } : { outcome: 'key_conflict' };
}
