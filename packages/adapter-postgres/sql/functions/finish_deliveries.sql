-- Stores the results of a batch of claims.
--
-- - A delivery that is ready again before its lease ends, such as one that is handed back, lowers `next_due` of its endpoint,
--   whose row is locked first.
-- - Deliveries are locked by number, so that two batches, or a batch and the end of an endpoint, do not deadlock.
-- - `held` are the deliveries whose claim is still the current one. A locked row stays in its place and is removed from there.
--   A row that has moved since the statement began belongs to another claim, because nothing else writes a row without ending
--   its claim.
-- - `answers` are the attempts that say something about their endpoint. An endpoint fails from a failed attempt until its last
--   attempt succeeds and none of its deliveries waits for another attempt after a failed one.
-- - An attempt that is followed by others goes into the log. So does an attempt whose number is logged already: the primary key
--   then refuses the whole call.
--
-- given: [{ place, id, claim_id, status, due_at, attempt, is_cut_off, at, duration_ms, http_status, error, response }]
--
-- Returns the places of results whose claim is no longer the current one: there are rarely any.
CREATE OR REPLACE FUNCTION finish_deliveries(given json) RETURNS SETOF integer
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH results AS MATERIALIZED (
    SELECT * FROM json_to_recordset(given) AS results (
      place integer, id text, claim_id text, status text, due_at bigint, attempt integer, is_cut_off boolean,
      at bigint, duration_ms bigint, http_status integer, error text, response text
    )
  ),
  leased AS MATERIALIZED (
    SELECT id, claim_id, endpoint_id, ready_at FROM pending_deliveries
    WHERE id = ANY (ARRAY (SELECT id FROM results WHERE status = 'pending'))
  ),
  sooner AS (
    SELECT endpoint_id, min(due_at) AS due_at FROM leased JOIN results USING (id, claim_id)
    WHERE due_at < ready_at
    GROUP BY endpoint_id
  ),
  queues AS MATERIALIZED (
    SELECT endpoint_id, sooner.due_at FROM sooner JOIN endpoint_queues AS queue USING (endpoint_id)
    WHERE queue.endpoint_id = ANY (ARRAY (SELECT endpoint_id FROM sooner))
    ORDER BY endpoint_id
    FOR UPDATE OF queue
  ),
  lowered AS (
    UPDATE endpoint_queues AS queue SET next_due = least(next_due, queues.due_at), revision = revision + 1
    FROM queues
    WHERE queue.endpoint_id = queues.endpoint_id
      AND queue.endpoint_id = ANY (ARRAY (SELECT endpoint_id FROM queues))
  ),
  held AS MATERIALIZED (
    SELECT
      pending.ctid AS row, pending.number, place, pending.id, results.status, results.due_at, attempt, is_cut_off, at,
      duration_ms, http_status, error, response, pending.due_at AS was_due_at, pending.attempts AS already, endpoint_id
    FROM pending_deliveries AS pending
    JOIN results ON results.id = pending.id AND results.claim_id = pending.claim_id
    WHERE pending.id = ANY (ARRAY (SELECT id FROM results)) AND (SELECT count(*) FROM queues) >= 0
    ORDER BY pending.number
    FOR UPDATE OF pending
  ),
  again AS (
    UPDATE pending_deliveries AS pending SET
      claim_id = NULL, due_at = held.due_at, ready_at = held.due_at,
      attempts = pending.attempts + (held.attempt IS NOT NULL)::integer,
      cut_off = pending.cut_off + (held.attempt IS NOT NULL AND held.is_cut_off IS TRUE)::integer
    FROM held
    WHERE pending.id = held.id AND held.status = 'pending'
      AND pending.id = ANY (ARRAY (SELECT id FROM held WHERE status = 'pending'))
  ),
  gone AS (
    DELETE FROM pending_deliveries
    WHERE ctid = ANY (ARRAY (SELECT row FROM held WHERE status <> 'pending'))
  ),
  final AS (
    UPDATE deliveries SET
      status = held.status, ended_at = coalesce(held.at + held.duration_ms, was_due_at),
      final_attempt = held.attempt, final_at = held.at, final_duration_ms = held.duration_ms,
      final_http_status = held.http_status, final_error = held.error, final_response = held.response
    FROM held
    WHERE deliveries.number = held.number AND held.status <> 'pending'
      AND deliveries.number = ANY (ARRAY (SELECT number FROM held WHERE status <> 'pending'))
  ),
  answers AS MATERIALIZED (
    SELECT number, endpoint_id, status, at, at + duration_ms AS ended, http_status, error FROM held
    WHERE attempt IS NOT NULL AND is_cut_off IS NOT TRUE
  ),
  failing AS (
    UPDATE deliveries SET has_failed = true
    WHERE NOT has_failed AND number = ANY (ARRAY (SELECT number FROM answers WHERE status = 'pending'))
  ),
  failures AS MATERIALIZED (
    SELECT DISTINCT ON (endpoint_id)
      endpoint_id, min(at) OVER endpoint AS since, at, http_status, error, ended,
      bool_or(status = 'pending') OVER endpoint AS is_retried
    FROM answers WHERE status <> 'delivered'
    WINDOW endpoint AS (PARTITION BY endpoint_id)
    ORDER BY endpoint_id, ended DESC
  ),
  successes AS MATERIALIZED (
    SELECT endpoint_id, max(ended) AS ended FROM answers WHERE status = 'delivered' GROUP BY endpoint_id
  ),
  failed AS MATERIALIZED (
    SELECT endpoint_id, since, at, http_status, error FROM failures LEFT JOIN successes USING (endpoint_id)
    WHERE is_retried OR successes.ended IS NULL OR successes.ended < failures.ended
  ),
  recovered AS (
    SELECT endpoint_id, NULL::bigint, at, http_status, error FROM endpoint_failures AS failure
    -- The condition on `since` is written so that no index fits it: the one of failing endpoints would lead to all of them.
    WHERE (since IS NULL) IS FALSE AND endpoint_id = ANY (ARRAY (SELECT endpoint_id FROM successes))
      AND endpoint_id <> ALL (ARRAY (SELECT endpoint_id FROM failed))
      -- Not as NOT EXISTS, which PostgreSQL would turn into a join with all deliveries that fail.
      AND (
        SELECT true FROM deliveries
        WHERE deliveries.endpoint_id = failure.endpoint_id AND failed_as = 'failing'
          AND number <> ALL (ARRAY (SELECT number FROM held WHERE status <> 'pending'))
        LIMIT 1
      ) IS NULL
  ),
  -- A recovery does not undo a failure that another batch has stored since this statement began.
  noted AS (
    INSERT INTO endpoint_failures AS failure (endpoint_id, since, at, http_status, error)
    SELECT * FROM (SELECT * FROM failed UNION ALL SELECT * FROM recovered) AS changed
    ORDER BY endpoint_id
    ON CONFLICT (endpoint_id) DO UPDATE SET
      since = CASE WHEN excluded.since IS NOT NULL THEN coalesce(failure.since, excluded.since) END,
      at = excluded.at, http_status = excluded.http_status, error = excluded.error
    WHERE excluded.since IS NOT NULL OR failure.at <= excluded.at
  ),
  logged AS (
    INSERT INTO delivery_attempts (delivery_number, number, at, duration_ms, http_status, error, response)
    SELECT number, attempt, at, duration_ms, http_status, error, response FROM held
    WHERE attempt IS NOT NULL AND (status = 'pending' OR attempt <= already)
  )
  SELECT place FROM results WHERE place NOT IN (SELECT place FROM held);
END
$$;
