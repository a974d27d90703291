import type {
  ClaimOutcome,
  IdempotencyClaim,
  IdempotencyOutcome,
  IdempotencyStore,
  StoredAnswer,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { isLockTimeout } from './errors.ts';
import type { RollBack } from './rollback.ts';
import { type Connection, prepared } from './statement.ts';

/** A claim as it is stored. */
export type ClaimRow = Omit<IdempotencyClaim, 'answer'> & { readonly status: number; readonly body: string };
type ClaimLookup = Pick<IdempotencyClaim, 'partner' | 'mode' | 'key' | 'fingerprint'>;
type Found = { readonly status: number; readonly body: string; readonly same: boolean };

/** The record of an idempotency key, inside a transaction that is under way. */
export interface Claims {
  /**
   * Takes the key for this request, or answers what an earlier one says that lives at `now`. Waits for a request
   * with the same key that is under way; one that goes on for too long ends this transaction, `in_progress`. A record
   * that has ended is overwritten.
   */
  take(
    connection: Connection,
    row: ClaimRow & { readonly now: number },
    rollBack: RollBack<Extract<ClaimOutcome, { outcome: 'in_progress' }>>,
  ): Promise<IdempotencyOutcome | null>;
  /** Sets the answer of a key that this transaction took before it knew it. */
  answer(connection: Connection, row: ClaimLookup & StoredAnswer): Promise<void>;
}

const answers = 'status, body, fingerprint = :fingerprint AS same';

export function postgresClaims({ schema }: Pick<Database, 'schema'>): Claims {
  // Where a record lives nothing is changed, and its row is locked all the same: nobody purges it now.
  const take = prepared<ClaimRow & { readonly now: number }>(`
    INSERT INTO ${schema}.idempotency_records AS record
      (partner, mode, key, fingerprint, status, body, ends_at)
    VALUES (:partner, :mode, :key, :fingerprint, :status, :body, :endsAt)
    ON CONFLICT (partner, mode, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
      ends_at = excluded.ends_at
    WHERE record.ends_at <= :now
  `);

  const earlier = prepared<ClaimLookup, Found>(`
    SELECT ${answers} FROM ${schema}.idempotency_records
    WHERE partner = :partner AND mode = :mode AND key = :key
  `);

  const answer = prepared<ClaimLookup & StoredAnswer>(`
    UPDATE ${schema}.idempotency_records SET status = :status, body = :body
    WHERE partner = :partner AND mode = :mode AND key = :key
  `);

  return {
    async take(connection, row, rollBack) {
      try {
        if ((await take.run(connection, row)) === 1) return null;
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        rollBack({ outcome: 'in_progress' });
      }
      // A statement of its own, which sees what the other request committed while this one waited for it.
      return outcomeOf(await earlier.get(connection, row));
    },

    async answer(connection, row) {
      await answer.run(connection, row);
    },
  };
}

export function postgresIdempotency(database: Database): IdempotencyStore {
  const { schema } = database;
  const find = prepared<ClaimLookup & { readonly now: number }, Found>(`
    SELECT ${answers} FROM ${schema}.idempotency_records
    WHERE partner = :partner AND mode = :mode AND key = :key AND ends_at > :now
  `);

  return {
    async find(request) {
      const lookup = { ...request, fingerprint: Buffer.from(request.fingerprint) };
      return outcomeOf(await database.read((connection) => find.get(connection, lookup)));
    },
  };
}

/** A copy of a claim: its caller may go on with the bytes while the write waits. */
export function claimRowOf({ answer, fingerprint, ...claim }: IdempotencyClaim): ClaimRow {
  return { ...claim, fingerprint: Buffer.from(fingerprint), status: answer.status, body: answer.body };
}

function outcomeOf(row: Found | undefined): IdempotencyOutcome | null {
  if (row === undefined) return null;
  const { status, body, same } = row;
  return same ? { outcome: 'replayed', answer: { status, body } } : { outcome: 'key_conflict' };
}
