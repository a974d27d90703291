import type { DeliveryResult, DeliveryStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { prepared } from './statement.ts';

// One statement for a whole batch. A delivery that is ready before its lease ends, as one that is handed back, is noted in
// the row of its endpoint, which is locked first. Rows are locked by number, so that two batches, or a batch and the end of an
// endpoint, wait for each other and not in a circle; `held` are those whose claim is still the current one. A row that
// is locked stays where it is, and is removed from there; one that has moved since the statement began belongs to
// another claim, because nothing else writes a row without ending its claim, and is not among them. Of what
// is looked up by `= ANY` PostgreSQL uses the index, whatever it thinks of the size of a table. An attempt that is
// followed by others goes into the log, and so does one whose number is there already, which is an error. What comes
// back are the places of results that do not count: there are hardly any.
function finishIn(schema: string) {
  return prepared<{ readonly results: string }, { readonly place: number }>(`
    WITH results AS MATERIALIZED (
      SELECT * FROM json_to_recordset(:results::json) AS results (
        place integer, id text, claim_id text, status text, due_at bigint, attempt integer, at bigint,
        duration_ms bigint, http_status integer, error text, response text
      )
    ),
    leased AS MATERIALIZED (
      SELECT id, claim_id, endpoint_id, ready_at FROM ${schema}.pending_deliveries
      WHERE id = ANY (ARRAY (SELECT id FROM results WHERE status = 'pending'))
    ),
    sooner AS (
      SELECT endpoint_id, min(due_at) AS due_at FROM leased JOIN results USING (id, claim_id)
      WHERE due_at < ready_at
      GROUP BY endpoint_id
    ),
    queues AS MATERIALIZED (
      SELECT endpoint_id, sooner.due_at FROM sooner JOIN ${schema}.endpoint_queues AS queue USING (endpoint_id)
      ORDER BY endpoint_id
      FOR UPDATE OF queue
    ),
    lowered AS (
      UPDATE ${schema}.endpoint_queues AS queue SET next_due = least(next_due, queues.due_at), revision = revision + 1
      FROM queues WHERE queue.endpoint_id = queues.endpoint_id
    ),
    held AS MATERIALIZED (
      SELECT
        pending.ctid AS row, pending.number, place, pending.id, results.status, results.due_at, attempt, at, duration_ms,
        http_status, error, response, pending.due_at AS was_due_at, pending.attempts AS already
      FROM ${schema}.pending_deliveries AS pending
      JOIN results ON results.id = pending.id AND results.claim_id = pending.claim_id
      WHERE pending.id = ANY (ARRAY (SELECT id FROM results)) AND (SELECT count(*) FROM queues) >= 0
      ORDER BY pending.number
      FOR UPDATE OF pending
    ),
    again AS (
      UPDATE ${schema}.pending_deliveries AS pending SET
        claim_id = NULL, due_at = held.due_at, ready_at = held.due_at,
        attempts = pending.attempts + (held.attempt IS NOT NULL)::integer
      FROM held WHERE pending.id = held.id AND held.status = 'pending'
    ),
    gone AS (
      DELETE FROM ${schema}.pending_deliveries
      WHERE ctid = ANY (ARRAY (SELECT row FROM held WHERE status <> 'pending'))
    ),
    final AS (
      UPDATE ${schema}.deliveries SET
        status = held.status, ended_at = coalesce(held.at + held.duration_ms, was_due_at),
        final_attempt = held.attempt, final_at = held.at, final_duration_ms = held.duration_ms,
        final_http_status = held.http_status, final_error = held.error, final_response = held.response
      FROM held WHERE deliveries.number = held.number AND held.status <> 'pending'
    ),
    logged AS (
      INSERT INTO ${schema}.delivery_attempts
        (delivery_number, number, at, duration_ms, http_status, error, response)
      SELECT number, attempt, at, duration_ms, http_status, error, response FROM held
      WHERE attempt IS NOT NULL AND (status = 'pending' OR attempt <= already)
    )
    SELECT place FROM results WHERE place NOT IN (SELECT place FROM held)
  `);
}

/** What claims led to. */
export function postgresDeliveryResults(database: Database): Pick<DeliveryStore, 'finish'> {
  const finish = finishIn(database.schema);

  return {
    async finish(results) {
      if (results.length === 0) return [];
      const places = placesThatCount(results);
      const counted = results.map((_, place) => places.has(place));
      const rows = results.map(rowOf).filter(({ place }) => places.has(place));
      const batch = { results: JSON.stringify(rows) };
      const refused = await database.change((connection) => finish.all(connection, batch));
      for (const { place } of refused) counted[place] = false;
      return counted;
    },
  };
}

/** Of a claim's results of one delivery the first counts: after it the claim is no longer the current one. */
function placesThatCount(results: readonly DeliveryResult[]): ReadonlySet<number> {
  const first = new Map<string, number>();
  for (const [place, { id, claimId }] of results.entries()) {
    const claim = `${claimId.length} ${claimId}${id}`;
    if (!first.has(claim)) first.set(claim, place);
  }
  return new Set(first.values());
}

/** What is not there is NULL. */
function rowOf({ id, claimId, attempt, next }: DeliveryResult, place: number) {
  return {
    place,
    id,
    claim_id: claimId,
    status: next.status,
    due_at: next.status === 'pending' ? next.dueAt : undefined,
    attempt: attempt?.number,
    at: attempt?.at,
    duration_ms: attempt?.durationMs,
    http_status: attempt?.httpStatus,
    error: attempt?.error,
    response: attempt?.response,
  };
}
