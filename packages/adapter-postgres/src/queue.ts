import type { Claim, ClaimedJob, NewJob, Queue, Shares } from '@ostiary/core/storage';
import { batchCalls } from './batching.ts';
import type { Database } from './database.ts';
import { isDataError } from './errors.ts';
import { type Connection, prepared, statement } from './statement.ts';
import { timeoutLeft } from './timeouts.ts';

type NewRow = Omit<Required<NewJob>, 'payload'> & { readonly payload: string };
type JobRow = Omit<ClaimedJob, 'payload'> & { readonly payload: string };

/**
 * Creates the function that stores jobs inside a running transaction. Jobs whose id exists already are not
 * stored.
 */
export function postgresJobs({ schema }: Pick<Database, 'schema'>) {
  // In the order of their ids, so that two calls with the same ids do not deadlock.
  const insert = prepared<{ readonly jobs: string }>(`
    INSERT INTO ${schema}.jobs (id, kind, owner, payload, due_at)
    SELECT id, kind, owner, payload, "dueAt"
    FROM json_to_recordset(:jobs::json)
      AS job (place integer, id text, kind text, owner text, payload text, "dueAt" bigint)
    ORDER BY id COLLATE "C", place
    ON CONFLICT (id) DO NOTHING
  `);

  return async (connection: Connection, rows: readonly NewRow[]): Promise<void> => {
    if (rows.length === 0) return;
    await insert.run(connection, { jobs: JSON.stringify(rows.map((row, place) => ({ ...row, place }))) });
  };
}

/** Returns a text that identifies a claim of a job. Claim ids contain no space. */
const nameOf = ({ id, claimId }: Claim): string => `${claimId} ${id}`;

export function jobRowOf({ id, kind, payload, dueAt, owner = '' }: NewJob): NewRow {
  return { id, kind, payload: JSON.stringify(payload), dueAt, owner };
}

/** Compares jobs for sorting by due time, with those of test mode last. */
function inOrder(a: JobRow, b: JobRow): number {
  const isTest = ({ owner }: JobRow) => Number(owner.startsWith('test:'));
  return isTest(a) - isTest(b) || a.dueAt - b.dueAt;
}

/** Converts the limits per owner to the text that the database function claim_jobs takes. */
function sharesText(shares: ReadonlyMap<string, Shares>): string {
  const rows = Array.from(shares, ([kind, { free, most }]) => [
    kind,
    { ...free, most: Object.fromEntries(most) },
  ]);
  return JSON.stringify(Object.fromEntries(rows));
}

export function postgresQueue(database: Database): Queue {
  const { schema } = database;
  const store = postgresJobs(database);
  const sql = {
    claim: prepared<
      {
        kinds: readonly string[];
        claimId: string;
        now: number;
        leaseEndsAt: number;
        limit: number;
        shares: string;
      },
      JobRow
    >(`
      SELECT id, kind, owner, payload, due_at AS "dueAt", claim_id AS "claimId", attempt
      FROM ${schema}.claim_jobs(:kinds, :claimId, :now, :leaseEndsAt, :limit, :shares)
    `),

    complete: prepared<{ ids: readonly string[]; claimIds: readonly string[] }, Claim>(`
      SELECT done_id AS id, done_by AS "claimId" FROM ${schema}.complete_jobs(:ids, :claimIds)
    `),

    retry: statement<Claim & { dueAt: number; error: string | null }>(`
      UPDATE ${schema}.jobs SET due_at = :dueAt, last_error = :error, claim_id = NULL, lease_ends_at = NULL
      WHERE id = :id AND claim_id = :claimId
    `),
  };

  const complete = batchCalls({
    mayRetryAlone: isDataError,
    async make(group: readonly Claim[], waitedMs) {
      const done = { ids: group.map(({ id }) => id), claimIds: group.map(({ claimId }) => claimId) };
      const removed = await database.changeUnsynced(
        (connection) => sql.complete.all(connection, done),
        timeoutLeft(waitedMs),
      );
      const names = new Set(removed.map(nameOf));
      // If two calls complete the same job, the first one succeeds.
      return group.map((claim) => names.delete(nameOf(claim)));
    },
  });

  return {
    async enqueue(jobs) {
      const rows = jobs.map(jobRowOf);
      await database.change((connection) => store(connection, rows));
    },

    async claim({ kinds, claimId, now, leaseMs, limit, shares }) {
      const request = {
        ...{ kinds: [...new Set(kinds)], claimId, now, leaseEndsAt: now + leaseMs, limit },
        shares: sharesText(shares ?? new Map()),
      };
      const claimed = await database.change((connection) => sql.claim.all(connection, request));
      return claimed.sort(inOrder).map((row) => ({ ...row, payload: JSON.parse(row.payload) }));
    },

    complete: ({ id, claimId }) => complete({ id, claimId }),

    retry: ({ id, claimId }, { dueAt, error }) => database.changes(sql.retry, { id, claimId, dueAt, error }),
  };
}
