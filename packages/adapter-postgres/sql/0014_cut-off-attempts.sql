-- How many of the numbered attempts were cut off: by a worker that stopped, or that died while it held the delivery. They are no
-- failures of the endpoint. From now on `attempts` counts these as well, and not only those that are logged.
ALTER TABLE pending_deliveries ADD COLUMN cut_off integer NOT NULL DEFAULT 0;

-- Claims deliveries as claim_deliveries of 0002_functions.sql does, and counts attempts that were cut off.
--
-- room: for how many deliveries of an endpoint there is room; room_of: the same for those with another room, { id: room }
-- most: so many deliveries at most
--
-- Answers two kinds of rows: deliveries, and with a number that is NULL the endpoints of some of them.
CREATE FUNCTION claim_due_deliveries(
  this_claim text, now_ms bigint, lease_end bigint, most integer, room_of_others integer, room_of jsonb
) RETURNS TABLE (
  number bigint, id text, "endpointId" text, "eventId" text, "eventType" text, body text, attempt integer, failures integer, "dueAt" bigint,
  "isNew" boolean, "readyAt" bigint, partner text, mode text, url text, "sealedSecret" text, "servedAt" bigint
)
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);

  RETURN QUERY
  WITH news AS MATERIALIZED (
    SELECT ctid AS row, partner, mode, news FROM event_sequences WHERE has_news
  ),
  due AS MATERIALIZED (
    SELECT endpoint_id, partner, mode, next_due, revision FROM endpoint_queues WHERE next_due <= now_ms
  ),
  turns AS (
    SELECT partner, mode, bool_or(has_news) AS has_news, (
      SELECT max(served_at) FROM endpoint_queues AS queue
      WHERE queue.partner = owner.partner AND queue.mode = owner.mode
    ) AS served_at
    FROM (SELECT partner, mode, true AS has_news FROM news UNION ALL SELECT partner, mode, false FROM due) AS owner
    GROUP BY partner, mode
  ),
  -- Owners and their endpoints are asked in turn, only as many as it needs (the LIMIT). An endpoint whose row has changed
  -- since the statement began, or that somebody holds, is left for the next claim: what the statement sees of its
  -- deliveries may be old. A result that is just being written holds a delivery, which is passed over and not waited for.
  taken AS MATERIALIZED (
    SELECT candidate.endpoint_id, candidate.served_at, held.queue, found.*
    FROM (SELECT * FROM turns ORDER BY served_at, partner, mode) AS turn
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT *, coalesce((room_of ->> endpoint_id)::integer, room_of_others) AS room
        FROM endpoint_queues AS queue
        WHERE queue.partner = turn.partner AND queue.mode = turn.mode AND (has_news OR next_due <= now_ms)
      ) AS queue
      WHERE room > 0 ORDER BY queue.served_at, endpoint_id
    ) AS candidate
    CROSS JOIN LATERAL (
      SELECT ctid AS queue FROM endpoint_queues AS queue
      WHERE queue.endpoint_id = candidate.endpoint_id AND queue.revision = candidate.revision
      FOR UPDATE SKIP LOCKED
    ) AS held
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT *, false AS is_new FROM (
          SELECT ctid AS row, number, due_at, ready_at FROM pending_deliveries AS pending
          WHERE pending.endpoint_id = candidate.endpoint_id
            AND ready_at >= candidate.next_due AND ready_at <= now_ms
          ORDER BY ready_at, number LIMIT candidate.room
          FOR UPDATE SKIP LOCKED
        ) AS again
        UNION ALL
        SELECT *, true FROM (
          SELECT ctid, number, due_at, ready_at FROM pending_deliveries AS pending
          WHERE pending.endpoint_id = candidate.endpoint_id AND number > candidate.claimed_to
          ORDER BY number LIMIT candidate.room
        ) AS published
      ) AS ready
      ORDER BY is_new, ready_at, number LIMIT candidate.room
    ) AS found
    LIMIT most
  ),
  -- The leases. One that is due later than it was published is set aside, among those that were claimed before. One that has a
  -- claim was claimed by a worker that wrote no result: its attempt is counted as cut off.
  claimed AS (
    UPDATE pending_deliveries SET
      attempts = attempts + (claim_id IS NOT NULL)::integer, cut_off = cut_off + (claim_id IS NOT NULL)::integer,
      claim_id = CASE WHEN due_at <= now_ms THEN this_claim END,
      ready_at = CASE WHEN due_at <= now_ms THEN lease_end ELSE due_at END
    WHERE ctid = ANY (ARRAY (SELECT row FROM taken))
    RETURNING id, number, endpoint_id, event_number, attempts, cut_off, due_at, claim_id
  ),
  -- Endpoints that turn out to have nothing ready, because no lease has ended after all; so many of a claim at most.
  settled AS MATERIALIZED (
    SELECT queue.ctid AS queue
    FROM due JOIN endpoint_queues AS queue USING (endpoint_id, revision)
    WHERE queue.endpoint_id = ANY (ARRAY (SELECT endpoint_id FROM due))
      AND endpoint_id NOT IN (SELECT endpoint_id FROM taken)
      AND (
        SELECT ready_at FROM pending_deliveries AS pending
        WHERE pending.endpoint_id = due.endpoint_id AND ready_at >= due.next_due AND ready_at <= now_ms
        ORDER BY ready_at LIMIT 1
      ) IS NULL
    LIMIT 200
    FOR UPDATE OF queue SKIP LOCKED
  ),
  visited AS (
    SELECT
      queue AS row, max(number) FILTER (WHERE is_new) AS claimed_to,
      min(CASE WHEN due_at <= now_ms THEN lease_end ELSE due_at END) AS next_due
    FROM taken GROUP BY queue
    UNION ALL
    SELECT queue, NULL, NULL FROM settled
  ),
  written AS (
    UPDATE endpoint_queues AS queue SET
      claimed_to = coalesce(visited.claimed_to, queue.claimed_to), served_at = now_ms, revision = revision + 1,
      next_due = least(visited.next_due, CASE WHEN queue.next_due <= now_ms THEN (
        SELECT ready_at FROM pending_deliveries AS pending
        WHERE pending.endpoint_id = queue.endpoint_id AND ready_at >= queue.next_due
          AND ctid NOT IN (SELECT row FROM taken)
        ORDER BY ready_at LIMIT 1
      ) ELSE queue.next_due END)
    FROM visited WHERE queue.ctid = visited.row AND queue.ctid = ANY (ARRAY (SELECT row FROM visited))
  ),
  -- A claim that is not full has seen the news of those whose endpoints have nothing left.
  quiet AS (
    SELECT row, news.news
    FROM news JOIN event_sequences AS sequence ON sequence.ctid = row
    WHERE sequence.ctid = ANY (ARRAY (SELECT row FROM news)) AND (SELECT count(*) FROM taken) < most
      -- As NOT EXISTS it would be a join with all endpoints there are.
      AND (
        SELECT true FROM endpoint_queues AS queue
        CROSS JOIN LATERAL (
          SELECT FROM pending_deliveries AS pending
          WHERE pending.endpoint_id = queue.endpoint_id AND number > claimed_to
          ORDER BY number LIMIT 1
        ) AS waiting
        WHERE queue.partner = news.partner AND queue.mode = news.mode
        LIMIT 1
      ) IS NULL
    FOR UPDATE OF sequence SKIP LOCKED
  ),
  seen AS (
    UPDATE event_sequences AS sequence SET seen = quiet.news
    FROM quiet WHERE sequence.ctid = row AND sequence.ctid = ANY (ARRAY (SELECT row FROM quiet))
  )
  SELECT
    claimed.number, claimed.id, endpoint_id, events.id, type, body, attempts + 1, attempts - cut_off, claimed.due_at,
    is_new, ready_at, NULL, NULL, NULL, NULL, NULL::bigint
  FROM claimed
  JOIN taken USING (number, endpoint_id)
  JOIN events ON events.number = event_number
  WHERE claim_id IS NOT NULL AND events.number = ANY (ARRAY (SELECT event_number FROM claimed))
  UNION ALL
  SELECT
    NULL, NULL, endpoint_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, partner, mode, url, sealed_secret, served_at
  FROM (SELECT DISTINCT endpoint_id, served_at FROM taken) AS receiver
  JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
  WHERE webhook_endpoints.id = ANY (ARRAY (SELECT endpoint_id FROM taken));
END
$$;

-- The function of earlier versions, whose answer has no failures. It stays for processes that still run one.
CREATE OR REPLACE FUNCTION claim_deliveries(
  this_claim text, now_ms bigint, lease_end bigint, most integer, room_of_others integer, room_of jsonb
) RETURNS TABLE (
  number bigint, id text, "endpointId" text, "eventId" text, "eventType" text, body text, attempt integer, "dueAt" bigint,
  "isNew" boolean, "readyAt" bigint, partner text, mode text, url text, "sealedSecret" text, "servedAt" bigint
)
LANGUAGE sql
SET search_path FROM CURRENT
AS $$
  SELECT
    number, id, "endpointId", "eventId", "eventType", body, attempt, "dueAt", "isNew", "readyAt", partner, mode, url,
    "sealedSecret", "servedAt"
  FROM claim_due_deliveries(this_claim, now_ms, lease_end, most, room_of_others, room_of)
$$;

-- Writes what claims led to, of a whole batch. A delivery that is ready before its lease ends, as one that is handed back, is
-- noted in the row of its endpoint, which is locked first. Rows are locked by number, so that two batches, or a batch and the
-- end of an endpoint, wait for each other and not in a circle; `held` are those whose claim is still the current one. A row
-- that is locked stays where it is, and is removed from there; one that has moved since the statement began belongs to
-- another claim, because nothing else writes a row without ending its claim, and is not among them. An attempt that is
-- followed by others goes into the log, and so does one whose number is there already, which is an error.
--
-- given: [{ place, id, claim_id, status, due_at, attempt, is_cut_off, at, duration_ms, http_status, error, response }]; earlier
-- versions know no is_cut_off
--
-- Answers the places of results that do not count: there are hardly any.
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
      duration_ms, http_status, error, response, pending.due_at AS was_due_at, pending.attempts AS already
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
  logged AS (
    INSERT INTO delivery_attempts (delivery_number, number, at, duration_ms, http_status, error, response)
    SELECT number, attempt, at, duration_ms, http_status, error, response FROM held
    WHERE attempt IS NOT NULL AND (status = 'pending' OR attempt <= already)
  )
  SELECT place FROM results WHERE place NOT IN (SELECT place FROM held);
END
$$;
