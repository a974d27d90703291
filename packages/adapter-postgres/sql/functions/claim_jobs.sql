-- Claims at most `most` due jobs of the given kinds, live mode before test mode, and the oldest due first.
--
-- shares: { kind: { live, test, most: { owner: most } } }; kinds without an entry are limited by `most` alone
CREATE OR REPLACE FUNCTION claim_jobs(
  kinds text[], claim text, now_ms bigint, new_lease_ends_at bigint, most integer, shares jsonb
) RETURNS SETOF jobs
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  -- Jumps from owner to owner: one step along the index for each, however many jobs an owner has.
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
  -- Each of n owners gets places / (n + 1), at least 1; the host may take every free place.
  placed AS (
    SELECT
      kind, owner, is_test, places,
      CASE
        WHEN places IS NULL THEN most
        WHEN owner = '' THEN least(most, places)
        WHEN row_number() OVER (PARTITION BY kind, is_test, owner = '' ORDER BY due_at, owner) > places_of_mode THEN 0
        ELSE least(most, own_most, greatest(1, places_of_mode / (count(*) FILTER (WHERE owner <> '') OVER (PARTITION BY kind) + 1)))
      END AS share
    FROM due_owners WHERE owner = '' OR own_most IS DISTINCT FROM 0
  ),
  -- Skips jobs that a concurrent claim has locked, without waiting for them.
  candidates AS MATERIALIZED (
    SELECT
      job.id, job.due_at, is_test, places,
      row_number() OVER (PARTITION BY kind ORDER BY is_test, job.due_at) AS place
    FROM placed
    CROSS JOIN LATERAL (
      SELECT id, due_at FROM jobs
      WHERE jobs.kind = placed.kind AND jobs.owner = placed.owner AND due_at <= now_ms
        AND (lease_ends_at IS NULL OR lease_ends_at <= now_ms)
      ORDER BY due_at LIMIT placed.share
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
