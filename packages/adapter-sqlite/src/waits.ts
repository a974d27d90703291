import type { Storage } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

interface Times {
  readonly now: number;
  readonly toleranceMs: number;
  readonly leaseMs: number;
}

function statementsOn(connection: Connection) {
  return {
    // The longest wait depends on the number of attempts for a failed job, and on its kind for any other.
    jobs: connection.prepare<[Times & { kinds: string; retryMs: string; limit: number }]>(`
      WITH waits AS (
        SELECT jobs.id AS id, CASE
          WHEN last_error IS NOT NULL
            THEN json_extract(:retryMs, '$[' || (min(max(attempt, 1), json_array_length(:retryMs)) - 1) || ']')
          WHEN attempt = 0 THEN wanted.value ->> 'firstMs'
          ELSE wanted.value ->> 'againMs'
        END AS longest, due_at, lease_ends_at
        FROM jobs JOIN json_each(:kinds) AS wanted ON wanted.key = kind
      ), late AS MATERIALIZED (
        SELECT id, longest FROM waits
        WHERE due_at > :now + longest + :toleranceMs OR lease_ends_at > :now + :leaseMs + :toleranceMs
        LIMIT :limit
      )
      UPDATE jobs SET
        due_at = min(due_at, :now + longest),
        lease_ends_at = min(lease_ends_at, :now + :leaseMs)
      FROM late WHERE jobs.id = late.id
    `),

    // Returns the endpoint of each delivery that is brought forward. For a claimed delivery, `ready_at` is
    // the end of its lease.
    deliveries: connection.prepare<[Times & { delaysMs: string; limit: number }], { endpointId: string }>(`
      WITH waits AS (
        SELECT number, claim_id, due_at, ready_at,
          json_extract(:delaysMs, '$[' || min(attempts - cut_off, json_array_length(:delaysMs) - 1) || ']') AS longest
        FROM deliveries WHERE status = 'pending' AND (ready_at > :now + :toleranceMs OR due_at > :now + :toleranceMs)
      ), late AS MATERIALIZED (
        SELECT number, longest FROM waits
        WHERE due_at > :now + longest + :toleranceMs
          OR ready_at > :now + :toleranceMs + CASE WHEN claim_id IS NULL THEN longest ELSE :leaseMs END
        LIMIT :limit
      )
      UPDATE deliveries SET
        due_at = min(due_at, :now + longest),
        ready_at = min(ready_at, :now + CASE WHEN claim_id IS NULL THEN longest ELSE :leaseMs END)
      FROM late WHERE deliveries.number = late.number
      RETURNING endpoint_id AS endpointId
    `),

    queue: connection.prepare<[{ endpointId: string }]>(`
      UPDATE endpoint_queues SET
        next_due = (SELECT min(ready_at) FROM deliveries WHERE status = 'pending' AND endpoint_id = +:endpointId)
      WHERE endpoint_id = +:endpointId
    `),

    turns: connection.prepare<[Pick<Times, 'now' | 'toleranceMs'>]>(`
      UPDATE endpoint_queues SET served_at = :now WHERE served_at > :now + :toleranceMs
    `),
  };
}

/**
 * Creates the function that brings forward times that lie too far in the future because the clock was set
 * back: due times and leases of jobs and deliveries, and turns of endpoints.
 */
export function sqliteWaits(database: Database): Storage['boundWaits'] {
  const sql = database.prepare(statementsOn);

  return ({ jobs, deliveries, limit, ...times }) =>
    database.write(() => {
      const [kinds, retryMs] = [JSON.stringify(jobs.kinds), JSON.stringify(jobs.retryMs)];
      const moved = sql().deliveries.all({ ...times, delaysMs: JSON.stringify(deliveries.delaysMs), limit });
      for (const endpointId of new Set(moved.map((row) => row.endpointId))) sql().queue.run({ endpointId });
      const { now, toleranceMs } = times;
      sql().turns.run({ now, toleranceMs });
      return {
        jobs: sql().jobs.run({ ...times, kinds, retryMs, limit }).changes,
        deliveries: moved.length,
      };
    });
}
