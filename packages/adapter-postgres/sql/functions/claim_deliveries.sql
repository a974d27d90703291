-- Claims deliveries. Each endpoint has a row in `endpoint_queues`, which only one claim at a time locks. Publishers do not lock
-- it, because a host may keep its transaction open for minutes.
--
-- - Published deliveries have numbers in the order of the commits, because a publisher has the row of the sequence to itself.
--   So the unclaimed ones are those after `claimed_to`.
-- - Deliveries that were claimed before are in the index of `ready_at`, at the end of their lease or at the time of their next
--   attempt. None of an endpoint is ready before its `next_due`: a result that makes one ready earlier lowers `next_due` first.
--
-- So a claim starts at the first delivery to claim, and never walks over rows of removed deliveries.
--
-- A claim reads endpoints whose `next_due` has passed, and all endpoints of a partner and mode with news. If endpoint_limit is
-- not above 0, it reads only endpoints that endpoint_limits names. Publishing increments `news` of the sequence. A claim that
-- leaves nothing unclaimed stores in `seen` the value of `news` that it read; events that committed after the claim began have a
-- higher value. Owners take turns, and so do the endpoints of an owner: a full claim reads no further. Places are shared among
-- partners and modes, test mode last.
--
-- A claim does not wait for the disk. If a crash of the server undoes it, the deliveries are claimed again, and the result of
-- the lost claim is refused.
--
-- endpoint_limit: maximum number of each endpoint that endpoint_limits does not name
-- endpoint_limits: { endpoint id: maximum number }
-- most: maximum number of deliveries
-- free_live, free_test: free places of each mode; NULL if there are no shares
-- most_of: { "mode:partner": most }, for owners that hold places already
--
-- Returns two kinds of rows: deliveries, and endpoints of deliveries (with NULL as number).
CREATE OR REPLACE FUNCTION claim_deliveries(
  this_claim text, now_ms bigint, lease_end bigint, most integer, endpoint_limit integer, endpoint_limits jsonb,
  free_live integer, free_test integer, most_of jsonb
) RETURNS TABLE (
  number bigint, id text, "endpointId" text, "eventId" text, "eventType" text, body text, traceparent text, attempt integer, failures integer, "dueAt" bigint,
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
  -- Endpoints from which a claim may take deliveries that takes none of endpoints without a limit of their own.
  WITH known AS MATERIALIZED (
    SELECT endpoint_id, partner, mode FROM endpoint_queues
    WHERE endpoint_limit <= 0
      AND endpoint_id = ANY (ARRAY (SELECT key FROM jsonb_each_text(endpoint_limits) WHERE value::integer > 0))
  ),
  news AS MATERIALIZED (
    SELECT ctid AS row, partner, mode, news FROM event_sequences
    WHERE has_news AND (endpoint_limit > 0 OR (partner, mode) IN (SELECT partner, mode FROM known))
  ),
  due AS MATERIALIZED (
    SELECT endpoint_id, partner, mode, next_due, revision FROM endpoint_queues
    WHERE next_due <= now_ms AND (endpoint_limit > 0 OR endpoint_id IN (SELECT endpoint_id FROM known))
  ),
  turns AS (
    SELECT partner, mode, bool_or(has_news) AS has_news, (
      SELECT max(served_at) FROM endpoint_queues AS queue
      WHERE queue.partner = owner.partner AND queue.mode = owner.mode
    ) AS served_at
    FROM (SELECT partner, mode, true AS has_news FROM news UNION ALL SELECT partner, mode, false FROM due) AS owner
    GROUP BY partner, mode
  ),
  -- Share of each of the n owners with due work: places / (n + 1), at least 1, and at most the value in `most_of`. Without
  -- limits of shares an owner may take all of `most`.
  shared AS MATERIALIZED (
    SELECT partner, mode, has_news, served_at, share FROM (
      SELECT *,
        CASE WHEN places IS NULL THEN most ELSE least(own_most, greatest(1, places / (count(*) OVER () + 1))) END AS share,
        row_number() OVER (PARTITION BY mode ORDER BY served_at, partner) AS place
      FROM (
        SELECT *,
          CASE mode WHEN 'test' THEN free_test ELSE free_live END AS places,
          (most_of ->> (mode || ':' || partner))::integer AS own_most
        FROM turns
      ) AS owner
      WHERE own_most IS DISTINCT FROM 0
    ) AS owner
    WHERE mode <> 'test' OR places IS NULL OR place <= places
  ),
  -- Reads owners and their endpoints in turn, only as many as needed (the LIMIT), test mode last. Skips an endpoint whose row has
  -- changed since the statement began, or that is locked, until the next claim: the statement may see outdated deliveries of it.
  -- Also skips, without waiting, a delivery that is locked because its result is just being stored.
  taken AS MATERIALIZED (
    SELECT of_owner.*
    FROM (SELECT * FROM shared ORDER BY mode = 'test', served_at, partner, mode) AS turn
    CROSS JOIN LATERAL (
      SELECT candidate.endpoint_id, candidate.served_at, held.queue, found.*
      FROM (
        SELECT * FROM (
          SELECT *, coalesce((endpoint_limits ->> endpoint_id)::integer, endpoint_limit) AS endpoint_most
          FROM endpoint_queues AS queue
          WHERE queue.partner = turn.partner AND queue.mode = turn.mode AND (has_news OR next_due <= now_ms)
        ) AS queue
        WHERE endpoint_most > 0 ORDER BY queue.served_at, endpoint_id
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
            ORDER BY ready_at, number LIMIT candidate.endpoint_most
            FOR UPDATE SKIP LOCKED
          ) AS again
          UNION ALL
          SELECT *, true FROM (
            SELECT ctid, number, due_at, ready_at FROM pending_deliveries AS pending
            WHERE pending.endpoint_id = candidate.endpoint_id AND number > candidate.claimed_to
            ORDER BY number LIMIT candidate.endpoint_most
          ) AS published
        ) AS ready
        ORDER BY is_new, ready_at, number LIMIT candidate.endpoint_most
      ) AS found
      LIMIT turn.share
    ) AS of_owner
    LIMIT most
  ),
  -- Writes the leases. A new delivery that is due later is only moved to those found by `ready_at`. A delivery that still has a
  -- claim was claimed by a worker that stored no result: its attempt counts as cut off.
  claimed AS (
    UPDATE pending_deliveries SET
      attempts = attempts + (claim_id IS NOT NULL)::integer, cut_off = cut_off + (claim_id IS NOT NULL)::integer,
      claim_id = CASE WHEN due_at <= now_ms THEN this_claim END,
      ready_at = CASE WHEN due_at <= now_ms THEN lease_end ELSE due_at END
    WHERE ctid = ANY (ARRAY (SELECT row FROM taken))
    RETURNING id, number, endpoint_id, event_number, attempts, cut_off, due_at, claim_id
  ),
  -- Endpoints without a ready delivery, because no lease has expired after all. Limited, to bound the work of a claim.
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
      min(CASE WHEN due_at <= now_ms THEN lease_end ELSE due_at END) AS next_due, bool_or(due_at <= now_ms) AS is_served
    FROM taken GROUP BY queue
    UNION ALL
    SELECT queue, NULL, NULL, false FROM settled
  ),
  written AS (
    UPDATE endpoint_queues AS queue SET
      claimed_to = coalesce(visited.claimed_to, queue.claimed_to), revision = revision + 1,
      served_at = CASE WHEN is_served THEN now_ms ELSE served_at END,
      next_due = least(visited.next_due, CASE WHEN queue.next_due <= now_ms THEN (
        SELECT ready_at FROM pending_deliveries AS pending
        WHERE pending.endpoint_id = queue.endpoint_id AND ready_at >= queue.next_due
          AND ctid NOT IN (SELECT row FROM taken)
        ORDER BY ready_at LIMIT 1
      ) ELSE queue.next_due END)
    FROM visited WHERE queue.ctid = visited.row AND queue.ctid = ANY (ARRAY (SELECT row FROM visited))
  ),
  -- Sequences whose news a claim has completely read: the claim is not full, and their endpoints have no unclaimed delivery.
  quiet AS (
    SELECT row, news.news
    FROM news JOIN event_sequences AS sequence ON sequence.ctid = row
    WHERE sequence.ctid = ANY (ARRAY (SELECT row FROM news)) AND (SELECT count(*) FROM taken) < most
      -- Not as NOT EXISTS, which PostgreSQL would turn into a join with all endpoints.
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
    claimed.number, claimed.id, endpoint_id, events.id, type, body, traceparent, attempts + 1, attempts - cut_off, claimed.due_at,
    is_new, ready_at, NULL, NULL, NULL, NULL, NULL::bigint
  FROM claimed
  JOIN taken USING (number, endpoint_id)
  JOIN events ON events.number = event_number
  WHERE claim_id IS NOT NULL AND events.number = ANY (ARRAY (SELECT event_number FROM claimed))
  UNION ALL
  SELECT
    NULL, NULL, endpoint_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, partner, mode, url, sealed_secret, served_at
  FROM (SELECT DISTINCT endpoint_id, served_at FROM taken) AS receiver
  JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
  WHERE webhook_endpoints.id = ANY (ARRAY (SELECT endpoint_id FROM taken));
END
$$;
