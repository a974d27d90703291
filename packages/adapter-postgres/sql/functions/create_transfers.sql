-- Stores transfers, each together with its idempotency record and its job, and returns the ids of the stored ones. Leaves out a
-- transfer whose reference is taken, or whose idempotency key has a valid record. Waits for another transaction that is storing
-- the same reference, and fails if that transaction commits.
--
-- lock_timeout: longest wait for other transactions, as a value of the setting with this name
CREATE OR REPLACE FUNCTION create_transfers(creations json, now_ms bigint, lock_timeout text) RETURNS SETOF text
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('lock_timeout', lock_timeout, true);

  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset(creations) AS asked (
      id text, partner text, mode text, status text, amount bigint, currency text, "recipientKid" text,
      description text, reference text, metadata text, "failureCode" text, "failureMessage" text,
      "createdAt" bigint, "updatedAt" bigint, "completedAt" bigint,
      key text, fingerprint text, "answerStatus" integer, "answerBody" text, "keyEndsAt" bigint,
      "jobId" text, "jobKind" text, "jobPayload" text, "jobDueAt" bigint
    )
    -- Ordered by reference, because only the index of references has this order. With equality alone, any index that begins
    -- with partner and mode seems equally good while the table's statistics show no rows.
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
    INSERT INTO jobs (id, kind, owner, payload, due_at)
    SELECT "jobId", "jobKind", asked.mode || ':' || asked.partner, "jobPayload", "jobDueAt" FROM asked JOIN stored USING (id)
    ORDER BY "jobId" COLLATE "C"
    ON CONFLICT (id) DO NOTHING
  )
  SELECT id FROM stored;
END
$$;
