-- What a payment takes, as functions: their plans go along indexes whatever the server knows of the tables. Jobs are few
-- whenever it counts them, and transfers may be few when a plan is made that is then kept; a burst would be read from its
-- beginning to its end by each call.

-- Stores transfers, each with its record and its job, or not at all, and answers the ids of those that it stored. One whose
-- reference is taken is left out, and so is one whose key has a record that lives; a reference that somebody else is just
-- storing is waited for, and an error.
--
-- lock_patience: how long it waits for what others are storing, as lock_timeout takes it
CREATE FUNCTION create_transfers(creations json, now_ms bigint, lock_patience text) RETURNS SETOF text
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('lock_timeout', lock_patience, true);

  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset(creations) AS asked (
      id text, partner text, mode text, status text, amount bigint, currency text, "recipientKid" text,
      description text, reference text, metadata text, "failureCode" text, "failureMessage" text,
      "createdAt" bigint, "updatedAt" bigint, "completedAt" bigint,
      key text, fingerprint text, "answerStatus" integer, "answerBody" text, "keyEndsAt" bigint,
      "jobId" text, "jobKind" text, "jobPayload" text, "jobDueAt" bigint
    )
    -- The nearest reference: in this order only the index of references has them. By equality alone any index that begins
    -- with partner and mode looks as good, while the server knows of no rows.
    WHERE reference IS NULL OR NOT EXISTS (
      SELECT FROM (
        SELECT partner, mode, reference FROM transfers AS other
        WHERE other.reference IS NOT NULL
          AND (other.partner, other.mode, other.reference) >= (asked.partner, asked.mode, asked.reference)
        ORDER BY other.partner, other.mode, other.reference LIMIT 1
      ) AS nearest
      WHERE nearest.partner = asked.partner AND nearest.mode = asked.mode AND nearest.reference = asked.reference
    )
  ), taken AS (
    INSERT INTO idempotency_records AS record (partner, mode, key, fingerprint, status, body, ends_at)
    SELECT partner, mode, key, decode(fingerprint, 'hex'), "answerStatus", "answerBody", "keyEndsAt"
    FROM asked WHERE key IS NOT NULL
    ORDER BY partner COLLATE "C", mode, key COLLATE "C"
    ON CONFLICT (partner, mode, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
      ends_at = excluded.ends_at
    WHERE record.ends_at <= now_ms
    RETURNING partner, mode, key
  ), stored AS (
    INSERT INTO transfers (
      id, partner, mode, status, amount, currency, recipient_kid, description, reference, metadata,
      failure_code, failure_message, created_at, updated_at, completed_at
    )
    SELECT
      id, asked.partner, asked.mode, status, amount, currency, "recipientKid", description, reference, metadata,
      "failureCode", "failureMessage", "createdAt", "updatedAt", "completedAt"
    FROM asked LEFT JOIN taken USING (partner, mode, key)
    WHERE asked.key IS NULL OR taken.key IS NOT NULL
    RETURNING id
  ), queued AS (
    INSERT INTO jobs (id, kind, payload, due_at)
    SELECT "jobId", "jobKind", "jobPayload", "jobDueAt" FROM asked JOIN stored USING (id)
    ORDER BY "jobId" COLLATE "C"
    ON CONFLICT (id) DO NOTHING
  )
  SELECT id FROM stored;
END
$$;

-- Claims due jobs of these kinds, at most so many, those first that are due for the longest time.
CREATE FUNCTION claim_jobs(kinds text[], claim text, now_ms bigint, new_lease_ends_at bigint, most integer)
RETURNS SETOF jobs
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  -- One kind at a time: that walks along the index in order and stops at the limit. Materialized, so that what is locked
  -- is chosen once; jobs that another claim is just taking are passed over and not waited for.
  RETURN QUERY
  WITH due AS MATERIALIZED (
    SELECT job.id
    FROM unnest(kinds) AS wanted (kind)
    CROSS JOIN LATERAL (
      SELECT id, due_at FROM jobs
      WHERE jobs.kind = wanted.kind AND due_at <= now_ms AND (lease_ends_at IS NULL OR lease_ends_at <= now_ms)
      ORDER BY due_at LIMIT most
      FOR UPDATE SKIP LOCKED
    ) AS job
    ORDER BY job.due_at LIMIT most
  )
  UPDATE jobs SET claim_id = claim, lease_ends_at = new_lease_ends_at, attempt = attempt + 1
  WHERE id = ANY (ARRAY (SELECT id FROM due))
  RETURNING jobs.*;
END
$$;

-- Removes jobs that are done, where their claims are the current ones, and answers which they were. Does not wait for the
-- disk: a job whose end a crash of the server takes back is done once more, and finds nothing to do.
CREATE FUNCTION complete_jobs(ids text[], claim_ids text[]) RETURNS TABLE (done_id text, done_by text)
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);

  RETURN QUERY
  DELETE FROM jobs USING unnest(ids, claim_ids) AS done (id, claim_id)
  WHERE jobs.id = ANY (ids) AND jobs.id = done.id AND jobs.claim_id = done.claim_id
  RETURNING jobs.id, jobs.claim_id;
END
$$;

-- Makes transfers final and publishes the events of those that were pending. Answers every one of them that there is.
--
-- settlements: [{ transferId, outcome, code, message, now, event }], of each transfer one; `event` as above
CREATE OR REPLACE FUNCTION settle_transfers(settlements json, lock_patience text)
RETURNS TABLE (is_settled boolean, transfer transfers)
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  ids text[] := ARRAY (SELECT "transferId" FROM json_to_recordset(settlements) AS given ("transferId" text));
  settled text[];
BEGIN
  PERFORM set_config('lock_timeout', lock_patience, true);

  -- Locked in one order, so that two calls with the same transfers wait for each other and not in a circle. The condition on the
  -- status is none that an index knows: the one of statuses has all that are pending.
  WITH held AS MATERIALIZED (
    SELECT id FROM transfers WHERE id = ANY (ids) AND (status = 'pending') IS TRUE ORDER BY id FOR UPDATE
  ),
  final AS (
    UPDATE transfers SET
      status = given.outcome, failure_code = given.code, failure_message = given.message, updated_at = given.now,
      completed_at = CASE given.outcome WHEN 'completed' THEN given.now END
    FROM held JOIN json_to_recordset(settlements)
      AS given ("transferId" text, outcome text, code text, message text, now bigint) ON held.id = "transferId"
    WHERE transfers.id = ANY (ARRAY (SELECT id FROM held)) AND transfers.id = held.id
    RETURNING transfers.id
  )
  SELECT array_agg(id) INTO settled FROM final;

  IF settled IS NOT NULL THEN
    PERFORM publish_events(
      (
        SELECT json_agg(event ORDER BY place)
        FROM ROWS FROM (json_to_recordset(settlements) AS ("transferId" text, event json)) WITH ORDINALITY
          AS given (transfer_id, event, place)
        WHERE transfer_id = ANY (settled)
      ),
      NULL
    );
  END IF;

  RETURN QUERY SELECT coalesce(id = ANY (settled), false), transfers FROM transfers WHERE id = ANY (ids);
END
$$;
