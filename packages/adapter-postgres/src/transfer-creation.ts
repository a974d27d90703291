import type {
  IdempotencyClaim,
  NewJob,
  Owner,
  TransferCreation,
  TransferRecord,
  TransferStore,
} from '@ostiary/core/storage';
import { batchCalls } from './batching.ts';
import type { Database } from './database.ts';
import { isDataError, isLockTimeout, isRepeatedInOne, isTaken, StorageUnavailableError } from './errors.ts';
import { outcomeOf, postgresIdempotency } from './idempotency.ts';
import { lookup, prepared } from './statement.ts';
import { lockTimeoutMs, lockTimeoutOf, timeoutLeft } from './timeouts.ts';

/** A transfer to create, which waits for its batch. */
interface Creation {
  readonly row: ReturnType<typeof creationRowOf>;
  readonly claim: IdempotencyClaim | null;
  readonly now: number;
}

function statementsIn(schema: string) {
  return {
    create: prepared<{ creations: string; now: number; lockTimeout: string }, { readonly id: string }>(
      `SELECT stored.id FROM ${schema}.create_transfers(:creations, :now, :lockTimeout) AS stored (id)`,
    ),

    findReference: lookup<Owner & { reference: string | null }, { readonly id: string }>(
      { partner: 'text', mode: 'text', reference: 'text' },
      `
        SELECT id FROM ${schema}.transfers
        WHERE partner = :partner AND mode = :mode AND reference = :reference
      `,
    ),
  };
}

/**
 * Creates the function that stores transfers with their idempotency records and jobs. Concurrent calls share
 * one statement.
 */
export function postgresTransferCreation(database: Database): TransferStore['create'] {
  const sql = statementsIn(database.schema);
  const records = postgresIdempotency(database);

  /** Returns the reason why a transfer was not stored. */
  async function refusal({ row, claim, now }: Creation): Promise<TransferCreation> {
    const earlier = claim && (await records.find({ ...claim, now }));
    if (claim !== null && earlier !== null) return outcomeOf(claim, earlier);
    const taken = await database.get(sql.findReference, row);
    if (taken === null) throw new StorageUnavailableError('a transfer was refused without a reason');
    return { outcome: 'reference_conflict', transferId: taken.id };
  }

  // Contains only the creations, so that a stored transfer cannot fail because of another call's look-ups.
  const store = batchCalls<Creation, 'created' | 'refused' | 'in_progress'>({
    mayRetryAlone: (error) => isDataError(error) || isLockTimeout(error) || isRepeatedInOne(error),
    async make(group, waitedMs, isShared) {
      // One time for the batch, though its calls began some milliseconds apart.
      const now = Math.min(...group.map((creation) => creation.now));
      const creations = JSON.stringify(group.map(({ row }) => row));
      const lockTimeout = lockTimeoutOf(isShared, lockTimeoutMs);
      try {
        const stored = await database.change(
          (connection) => sql.create.all(connection, { creations, now, lockTimeout }),
          timeoutLeft(waitedMs),
        );
        const ids = new Set(stored.map(({ id }) => id));
        return group.map(({ row }) => (ids.has(row.id) ? 'created' : 'refused'));
      } catch (error) {
        const holdsKey = group.every(({ claim }) => claim !== null);
        if (!isShared && holdsKey && isLockTimeout(error)) return ['in_progress'];
        // Another call stored the reference while this one waited.
        if (!isShared && isTaken(error, 'transfers_by_reference')) return ['refused'];
        throw error;
      }
    },
  });

  return async ({ transfer, idempotency, job, now }) => {
    // Copy the arguments, because the caller may change them while the call waits.
    const creation = {
      row: creationRowOf(transfer, idempotency, job),
      claim: idempotency && { ...idempotency, fingerprint: Buffer.from(idempotency.fingerprint) },
      now,
    };
    const outcome = await store(creation);
    return outcome === 'refused' ? refusal(creation) : { outcome };
  };
}

function creationRowOf(
  { metadata, failure, amount, ...transfer }: TransferRecord,
  claim: IdempotencyClaim | null,
  job: NewJob,
) {
  return {
    ...transfer,
    amount: String(amount),
    metadata: metadata === null ? null : JSON.stringify(metadata),
    failureCode: failure?.code ?? null,
    failureMessage: failure?.message ?? null,
    key: claim?.key,
    fingerprint: claim && Buffer.from(claim.fingerprint).toString('hex'),
    answerStatus: claim?.answer.status,
    answerBody: claim?.answer.body,
    keyEndsAt: claim?.endsAt,
    jobId: job.id,
    jobKind: job.kind,
    jobPayload: JSON.stringify(job.payload),
    jobDueAt: job.dueAt,
  };
}
