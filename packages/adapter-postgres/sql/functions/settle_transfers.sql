-- Makes pending transfers final and publishes their events. Returns all given transfers that exist.
--
-- settlements: [{ transferId, outcome, code, message, now, event }], one per transfer; `event` in the form of publish_events
CREATE OR REPLACE FUNCTION settle_transfers(settlements json, lock_timeout text)
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
  PERFORM set_config('lock_timeout', lock_timeout, true);

  -- Locked in one order, so that two calls with the same transfers do not deadlock. The condition on the status is written so
  -- that no index fits it: the index of statuses would lead to all pending transfers.
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
