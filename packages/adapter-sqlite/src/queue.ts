import type { Claim, ClaimedJob, NewJob, OwnerName, Queue, Shares } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { roomOfOwners } from './shares.ts';

type NewRow = Omit<Required<NewJob>, 'payload'> & { readonly payload: string };
type JobRow = Omit<ClaimedJob, 'payload' | 'claimId'> & { readonly payload: string };

/** An owner of jobs, and when the first of them is due. */
interface DueOwner {
  readonly owner: OwnerName;
  readonly dueAt: number;
}

/** Sorts by the time at which jobs are due, those of test mode last. */
function inOrder(a: JobRow, b: JobRow): number {
  const isTest = ({ owner }: JobRow) => Number(owner.startsWith('test:'));
  return isTest(a) - isTest(b) || a.dueAt - b.dueAt;
}

/** Stores a job inside a transaction that is under way, unless there is one with its id. */
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
    firstOwner: connection.prepare<[kind: string], DueOwner>(`
      SELECT owner, due_at AS dueAt FROM jobs WHERE kind = ? ORDER BY owner, due_at LIMIT 1
    `),

    nextOwner: connection.prepare<[kind: string, after: OwnerName], DueOwner>(`
      SELECT owner, due_at AS dueAt FROM jobs WHERE kind = ? AND owner > ? ORDER BY owner, due_at LIMIT 1
    `),

    // Read one kind and owner at a time, because that follows the index in order and stops at the limit.
    due: connection.prepare<[{ kind: string; owner: OwnerName; now: number; limit: number }], JobRow>(`
      SELECT id, kind, owner, payload, due_at AS dueAt, attempt + 1 AS attempt FROM jobs
      WHERE kind = :kind AND owner = :owner AND due_at <= :now
        AND (lease_ends_at IS NULL OR lease_ends_at <= :now)
      ORDER BY due_at LIMIT :limit
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

  /** Returns the owners of a kind that have jobs which are due or held, those that wait longest first. */
  function dueOwners(kind: string, now: number): OwnerName[] {
    const owners: DueOwner[] = [];
    for (
      let next = sql().firstOwner.get(kind);
      next !== undefined;
      next = sql().nextOwner.get(kind, next.owner)
    )
      if (next.dueAt <= now) owners.push(next);
    return owners.sort((a, b) => a.dueAt - b.dueAt).map(({ owner }) => owner);
  }

  /** Returns the due jobs of a kind that a claim may take, in their order. */
  function dueOf(kind: string, now: number, limit: number, shares: Shares | undefined): JobRow[] {
    const owners = dueOwners(kind, now);
    const roomOf = roomOfOwners(owners, shares);
    const due = owners.flatMap((owner) => {
      const room = Math.min(roomOf(owner), limit);
      return room > 0 ? sql().due.all({ kind, owner, now, limit: room }) : [];
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
      const distinct = [...new Set(kinds)];
      return database.write(() => {
        const due = distinct.flatMap((kind) => dueOf(kind, now, limit, shares?.get(kind)));
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
