import type { Claim, ClaimedJob, NewJob, OwnerName, Queue, Shares } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { shareOfOwners } from './shares.ts';

type NewRow = Omit<Required<NewJob>, 'payload'> & { readonly payload: string };
type JobRow = Omit<ClaimedJob, 'payload' | 'claimId'> & { readonly payload: string };

/** The host, or a partner and mode, with due or claimed jobs of a kind, and the due time of its first job. */
interface DueOwner {
  readonly kind: string;
  readonly owner: OwnerName;
  readonly dueAt: number;
}

/** Compares jobs for sorting by due time, with those of test mode last. */
function inOrder(a: JobRow, b: JobRow): number {
  const isTest = ({ owner }: JobRow) => Number(owner.startsWith('test:'));
  return isTest(a) - isTest(b) || a.dueAt - b.dueAt;
}

/**
 * Creates the function that stores a job inside a running transaction. A job whose id exists already is not
 * stored.
 */
export function jobsOn(connection: Connection): (row: NewRow) => void {
  const insert = connection.prepare<[NewRow]>(`
    INSERT INTO jobs (id, kind, owner, payload, due_at) VALUES (:id, :kind, :owner, :payload, :dueAt)
    ON CONFLICT (id) DO NOTHING
  `);
  return (row) => void insert.run(row);
}

export function jobRowOf({ id, kind, payload, dueAt, owner = '' }: NewJob): NewRow {
  return { id, kind, payload: JSON.stringify(payload), dueAt, owner };
}

export function sqliteQueue(database: Database): Queue {
  const store = database.prepare(jobsOn);
  const sql = database.prepare((connection) => ({
    // Jumps along the index from each kind and owner to the next, and reads the first job of each.
    dueOwners: connection.prepare<[now: number], DueOwner>(`
      WITH RECURSIVE firsts (id) AS (
        SELECT * FROM (SELECT id FROM jobs ORDER BY kind, owner, due_at LIMIT 1)
        UNION ALL
        SELECT coalesce(
          (SELECT id FROM jobs WHERE kind = last.kind AND owner > last.owner ORDER BY owner, due_at LIMIT 1),
          (SELECT id FROM jobs WHERE kind > last.kind ORDER BY kind, owner, due_at LIMIT 1)
        ) FROM firsts CROSS JOIN jobs AS last USING (id)
      )
      SELECT kind, owner, due_at AS dueAt FROM firsts CROSS JOIN jobs USING (id) WHERE due_at <= ?
    `),

    // Reads one kind and owner at a time, which follows the index in order and stops at the limit. The plus
    // signs are explained at `findToken` in grants.ts.
    due: connection.prepare<[{ kind: string; owner: OwnerName; now: number; limit: number }], JobRow>(`
      SELECT id, kind, owner, payload, due_at AS dueAt, attempt + 1 AS attempt FROM jobs
      WHERE kind = +:kind AND owner = +:owner AND due_at <= +:now
        AND (lease_ends_at IS NULL OR lease_ends_at <= +:now)
      ORDER BY due_at LIMIT +:limit
    `),

    claim: connection.prepare<[{ id: string; claimId: string; leaseEndsAt: number; attempt: number }]>(`
      UPDATE jobs SET claim_id = :claimId, lease_ends_at = :leaseEndsAt, attempt = :attempt WHERE id = :id
    `),

    complete: connection.prepare<[Claim]>(`
      DELETE FROM jobs WHERE id = :id AND claim_id = :claimId
    `),

    retry: connection.prepare<[Claim & { dueAt: number; error: string | null }]>(`
      UPDATE jobs SET due_at = :dueAt, last_error = :error, claim_id = NULL, lease_ends_at = NULL
      WHERE id = :id AND claim_id = :claimId
    `),
  }));

  /**
   * Returns the due jobs of a kind that a claim may take, sorted by due time, with those of test mode last.
   * If there are more owners than places, the owners whose first jobs have been due longest get the places.
   */
  function dueOf(kind: string, owners: DueOwner[], now: number, limit: number, shares?: Shares): JobRow[] {
    const names = owners.sort((a, b) => a.dueAt - b.dueAt).map(({ owner }) => owner);
    const shareOf = shareOfOwners(names, shares);
    const due = names.flatMap((owner) => {
      const share = Math.min(shareOf(owner), limit);
      return share > 0 ? sql().due.all({ kind, owner, now, limit: share }) : [];
    });
    return due.sort(inOrder).slice(0, shares?.free.live ?? limit);
  }

  return {
    async enqueue(jobs) {
      const rows = jobs.map(jobRowOf);
      await database.write(() => {
        for (const row of rows) store()(row);
      });
    },

    async claim({ kinds, claimId, now, leaseMs, limit, shares }) {
      const asked = new Set(kinds);
      return database.write(() => {
        const owners = Map.groupBy(sql().dueOwners.all(now), ({ kind }) => kind);
        const due = Array.from(owners, ([kind, ofKind]) =>
          asked.has(kind) ? dueOf(kind, ofKind, now, limit, shares?.get(kind)) : [],
        ).flat();
        const claimed = due.sort(inOrder).slice(0, limit);
        for (const { id, attempt } of claimed) {
          sql().claim.run({ id, claimId, leaseEndsAt: now + leaseMs, attempt });
        }
        return claimed.map((row) => ({ ...row, payload: JSON.parse(row.payload), claimId }));
      });
    },

    complete: ({ id, claimId }) => database.write(() => sql().complete.run({ id, claimId }).changes === 1),

    retry: ({ id, claimId }, { dueAt, error }) =>
      database.write(() => sql().retry.run({ id, claimId, dueAt, error }).changes === 1),
  };
}
