-- Whose work a job is: `mode:partner`, and '' for the host's own. Claims take of each owner its share, and walk from one owner to
-- the next along this index.
ALTER TABLE jobs ADD COLUMN owner text COLLATE "C" NOT NULL DEFAULT '';

CREATE INDEX jobs_by_owner ON jobs (kind, owner, due_at);

-- Claims due jobs of these kinds, at most so many: those first that are due for the longest time, and those of test mode after all
-- others. Processes of an older version go on calling claim_jobs.
--
-- shares: { kind: { live, test, most: { owner: most } } }; a kind that it does not name is bounded by `most` alone
CREATE FUNCTION claim_shared_jobs(
  kinds text[], claim text, now_ms bigint, new_lease_ends_at bigint, most integer, shares jsonb
) RETURNS SETOF jobs
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  -- From one owner to the next: one step along the index for each, however many jobs it has.
  WITH RECURSIVE owners AS (
    SELECT wanted.kind, first.owner, first.due_at
    FROM unnest(kinds) AS wanted (kind)
    CROSS JOIN LATERAL (
      SELECT owner, due_at FROM jobs WHERE jobs.kind = wanted.kind ORDER BY owner, due_at LIMIT 1
    ) AS first
    UNION ALL
    SELECT owners.kind, next.owner, next.due_at
    FROM owners
    CROSS JOIN LATERAL (
      SELECT owner, due_at FROM jobs
      WHERE jobs.kind = owners.kind AND jobs.owner > owners.owner
      ORDER BY owner, due_at LIMIT 1
    ) AS next
  ),
  due_owners AS (
    SELECT
      kind, owner, due_at, owner LIKE 'test:%' AS is_test,
      (shares #>> ARRAY[kind, 'live'])::integer AS places,
      (shares #>> ARRAY[kind, CASE WHEN owner LIKE 'test:%' THEN 'test' ELSE 'live' END])::integer AS places_of_mode,
      (shares #>> ARRAY[kind, 'most', owner])::integer AS own_most
    FROM owners WHERE due_at <= now_ms
  ),
  -- Of n owners each has its part of n + 1; the host has whatever is free.
  placed AS (
    SELECT
      kind, owner, is_test, places,
      CASE
        WHEN places IS NULL THEN most
        WHEN owner = '' THEN least(most, places)
        WHEN row_number() OVER (PARTITION BY kind, is_test, owner = '' ORDER BY due_at, owner) > places_of_mode THEN 0
        ELSE least(most, own_most, greatest(1, places_of_mode / (count(*) FILTER (WHERE owner <> '') OVER (PARTITION BY kind) + 1)))
      END AS room
    FROM due_owners WHERE owner = '' OR own_most IS DISTINCT FROM 0
  ),
  -- Jobs that another claim is just taking are passed over and not waited for.
  candidates AS MATERIALIZED (
    SELECT
      job.id, job.due_at, is_test, places,
      row_number() OVER (PARTITION BY kind ORDER BY is_test, job.due_at) AS place
    FROM placed
    CROSS JOIN LATERAL (
      SELECT id, due_at FROM jobs
      WHERE jobs.kind = placed.kind AND jobs.owner = placed.owner AND due_at <= now_ms
        AND (lease_ends_at IS NULL OR lease_ends_at <= now_ms)
      ORDER BY due_at LIMIT placed.room
      FOR UPDATE SKIP LOCKED
    ) AS job
  ),
  due AS MATERIALIZED (
    SELECT id FROM candidates WHERE places IS NULL OR place <= places ORDER BY is_test, due_at LIMIT most
  )
  UPDATE jobs SET claim_id = claim, lease_ends_at = new_lease_ends_at, attempt = attempt + 1
  WHERE id = ANY (ARRAY (SELECT id FROM due))
  RETURNING jobs.*;
END
$$;

-- Stores transfers, each with its record and its job, or not at all, and answers the ids of those that it stored. One whose
-- reference is taken is left out, and so is one whose key has a record that lives; a reference that somebody else is just
-- storing is waited for, and an error.
--
-- lock_patience: how long it waits for what others are storing, as lock_timeout takes it
CREATE OR REPLACE FUNCTION create_transfers(creations json, now_ms bigint, lock_patience text) RETURNS SETOF text
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
    INSERT INTO jobs (id, kind, owner, payload, due_at)
    SELECT "jobId", "jobKind", asked.mode || ':' || asked.partner, "jobPayload", "jobDueAt" FROM asked JOIN stored USING (id)
    ORDER BY "jobId" COLLATE "C"
    ON CONFLICT (id) DO NOTHING
  )
  SELECT id FROM stored;
END
$$;
