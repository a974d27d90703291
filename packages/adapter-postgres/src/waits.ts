import type { Storage } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { longTimeoutMs } from './timeouts.ts';

interface Times {
  readonly now: number;
  readonly toleranceMs: number;
  readonly leaseMs: number;
}

interface Moved {
  readonly count: number;
}

function statementsIn(schema: string) {
  return {
    // The longest wait depends on the number of attempts for a failed job, and on its kind for any other.
    // Skips jobs that are being claimed or completed, until the next time.
    jobs: statement<Times & { kinds: string; retryMs: readonly number[]; limit: number }>(`
      WITH waits AS (
        SELECT id, due_at, lease_ends_at, CASE
          WHEN last_error IS NOT NULL
            THEN (:retryMs::bigint[])[least(greatest(attempt, 1), cardinality(:retryMs::bigint[]))]
          WHEN attempt = 0 THEN (wanted.wait ->> 'firstMs')::bigint
          ELSE (wanted.wait ->> 'againMs')::bigint
        END AS longest
        FROM ${schema}.jobs JOIN json_each(:kinds::json) AS wanted (kind, wait) USING (kind)
      ), late AS MATERIALIZED (
        SELECT id, longest FROM waits
        WHERE due_at > :now::bigint + longest + :toleranceMs
          OR lease_ends_at > :now::bigint + :leaseMs::bigint + :toleranceMs
        ORDER BY id LIMIT :limit
      ), held AS MATERIALIZED (
        SELECT id FROM ${schema}.jobs WHERE id = ANY (ARRAY (SELECT id FROM late)) FOR UPDATE SKIP LOCKED
      )
      UPDATE ${schema}.jobs SET
        due_at = least(due_at, :now::bigint + longest),
        lease_ends_at = CASE WHEN claim_id IS NOT NULL THEN least(lease_ends_at, :now::bigint + :leaseMs::bigint) END
      FROM late JOIN held USING (id) WHERE jobs.id = late.id
    `),

    // Lock rows of endpoints first, then deliveries by number, in the order of every statement that writes
    // both. A delivery that was never claimed has no `ready_at`. For a claimed one it is the end of the
    // lease, and after a failed attempt the time of the next one.
    deliveries: statement<Times & { delaysMs: readonly number[]; limit: number }, Moved>(`
      WITH waits AS (
        SELECT id, endpoint_id, claim_id, due_at, ready_at,
          (:delaysMs::bigint[])[least(attempts - cut_off + 1, cardinality(:delaysMs::bigint[]))] AS longest
        FROM ${schema}.pending_deliveries
      ), late AS MATERIALIZED (
        SELECT id, endpoint_id, longest FROM waits
        WHERE due_at > :now::bigint + longest + :toleranceMs
          OR ready_at > :now::bigint + :toleranceMs + CASE WHEN claim_id IS NULL THEN longest ELSE :leaseMs::bigint END
        ORDER BY id LIMIT :limit
      ), queues AS MATERIALIZED (
        SELECT endpoint_id FROM ${schema}.endpoint_queues
        WHERE endpoint_id = ANY (ARRAY (SELECT endpoint_id FROM late))
        ORDER BY endpoint_id FOR UPDATE
      ), held AS MATERIALIZED (
        SELECT pending.id, late.longest FROM ${schema}.pending_deliveries AS pending JOIN late USING (id)
        WHERE (SELECT count(*) FROM queues) > 0
        ORDER BY pending.number FOR UPDATE OF pending
      ), moved AS (
        UPDATE ${schema}.pending_deliveries AS pending SET
          due_at = least(due_at, :now::bigint + longest),
          ready_at = CASE WHEN ready_at IS NOT NULL
            THEN least(ready_at, :now::bigint + CASE WHEN claim_id IS NULL THEN longest ELSE :leaseMs::bigint END)
          END
        FROM held WHERE pending.id = held.id
        RETURNING endpoint_id, ready_at
      ), earliest AS (
        SELECT endpoint_id, min(ready_at) AS ready_at FROM moved GROUP BY endpoint_id
      ), lowered AS (
        UPDATE ${schema}.endpoint_queues AS queue SET
          next_due = least(next_due, earliest.ready_at), revision = revision + 1
        FROM earliest WHERE queue.endpoint_id = earliest.endpoint_id
      )
      SELECT count(*) AS count FROM moved
    `),

    // Skips endpoints that a claim has locked, because the claim sets their turn itself.
    turns: statement<Pick<Times, 'now' | 'toleranceMs'>>(`
      UPDATE ${schema}.endpoint_queues SET served_at = :now
      WHERE endpoint_id = ANY (ARRAY (
        SELECT endpoint_id FROM ${schema}.endpoint_queues WHERE served_at > :now::bigint + :toleranceMs
        FOR UPDATE SKIP LOCKED
      ))
    `),
  };
}

/**
 * Creates the function that brings forward times that lie too far in the future because the clock was set
 * back: due times and leases of jobs, due times and leases of deliveries, and turns of endpoints. Each of the
 * three has a transaction.
 */
export function postgresWaits(database: Database): Storage['boundWaits'] {
  const sql = statementsIn(database.schema);

  return async ({ jobs: { kinds, retryMs }, deliveries: { delaysMs }, limit, ...times }) => {
    const { now, toleranceMs } = times;
    const jobs = await database.change(
      (connection) => sql.jobs.run(connection, { ...times, kinds: JSON.stringify(kinds), retryMs, limit }),
      longTimeoutMs,
    );
    const moved = await database.change(
      (connection) => sql.deliveries.get(connection, { ...times, delaysMs, limit }),
      longTimeoutMs,
    );
    await database.change((connection) => sql.turns.run(connection, { now, toleranceMs }), longTimeoutMs);
    return { jobs, deliveries: moved?.count ?? 0 };
  };
}
