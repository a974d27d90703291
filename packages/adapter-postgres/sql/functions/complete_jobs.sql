-- Removes finished jobs whose claims are still the current ones, and returns those claims. Does not wait for the disk: if a
-- crash of the server undoes a removal, the job runs once more and finds nothing to do.
CREATE OR REPLACE FUNCTION complete_jobs(ids text[], claim_ids text[]) RETURNS TABLE (done_id text, done_by text)
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
