import type { Claim, ClaimedJob, NewJob, Queue } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

type NewRow = Omit<NewJob, 'payload'> & { readonly payload: string };
type JobRow = Omit<ClaimedJob, 'payload' | 'claimId'> & { readonly payload: string };

/** Stores a job inside a transaction that is under way, unless there is one with its id. */
export function jobsOn(connection: Connection): (row: NewRow) => void {
  const insert = connection.prepare<[NewRow]>(`
    INSERT INTO jobs (id, kind, payload, due_at) VALUES (:id, :kind, :payload, :dueAt)
    ON CONFLICT (id) DO NOTHING
  `);
  return (row) => void insert.run(row);
}

export function jobRowOf({ id, kind, payload, dueAt }: NewJob): NewRow {
  return { id, kind, payload: JSON.stringify(payload), dueAt };
}

export function sqliteQueue(database: Database): Queue {
  const store = database.prepare(jobsOn);
  const sql = database.prepare((connection) => ({
    // One kind at a time: that walks along the index in order and stops at the limit.
    due: connection.prepare<[{ kind: string; now: number; limit: number }], JobRow>(`
      SELECT id, kind, payload, due_at AS dueAt, attempt + 1 AS attempt FROM jobs
      WHERE kind = :kind AND due_at <= :now
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

  return {
    async enqueue(jobs) {
      const rows = jobs.map(jobRowOf);
      await database.write(() => {
        for (const row of rows) store()(row);
      });
    },

    async claim({ kinds, claimId, now, leaseMs, limit }) {
      const distinct = [...new Set(kinds)];
      return database.write(() => {
        const due = distinct.flatMap((kind) => sql().due.all({ kind, now, limit }));
        const claimed = due.sort((a, b) => a.dueAt - b.dueAt).slice(0, limit);
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
