-- Stores events and their deliveries, in the order of the array, as EventStore.publish requires.
--
-- published: [{ id, partner, mode, type, body, createdAt, deliveryId, traceparent }]
-- lock_timeout: longest wait for the sequences, as a value of the setting with this name; NULL keeps the transaction's value
CREATE OR REPLACE FUNCTION publish_events(published json, lock_timeout text) RETURNS void
LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  owners json;
BEGIN
  IF lock_timeout IS NOT NULL THEN
    PERFORM set_config('lock_timeout', lock_timeout, true);
  END IF;

  -- Lock the sequences first, in one order. The next statement then sees what their previous holders committed.
  WITH advanced AS (
    INSERT INTO event_sequences (partner, mode, last)
    SELECT partner, mode, count(*) FROM json_to_recordset(published) AS event (partner text, mode text)
    GROUP BY partner, mode
    ORDER BY partner COLLATE "C", mode COLLATE "C"
    ON CONFLICT (partner, mode) DO UPDATE SET
      last = event_sequences.last + excluded.last, news = event_sequences.news + 1
    RETURNING partner, mode, last
  )
  SELECT json_agg(advanced) INTO owners FROM advanced;

  -- Deliveries are numbered in the order of the call, and within an event in the order of the endpoints' ids. Events of a
  -- disabled partner are not delivered; a call that disables a partner writes the rows of its sequences first.
  WITH numbered AS MATERIALIZED (
    SELECT
      event.*,
      owner.last - count(*) OVER (owned) + row_number() OVER (owned ORDER BY place) AS sequence
    FROM ROWS FROM (
      json_to_recordset(published) AS (
        id text, partner text, mode text, type text, body text, "createdAt" bigint, "deliveryId" text,
        traceparent text
      )
    ) WITH ORDINALITY AS event (id, partner, mode, type, body, created_at, delivery_id, traceparent, place)
    JOIN json_to_recordset(owners) AS owner (partner text, mode text, last bigint) USING (partner, mode)
    WINDOW owned AS (PARTITION BY event.partner, event.mode)
  ),
  stored AS (
    INSERT INTO events (id, partner, mode, sequence, type, body, created_at, traceparent)
    SELECT id, partner, mode, sequence, type, body, created_at, traceparent FROM numbered ORDER BY place
    RETURNING number, id
  ),
  receivers AS MATERIALIZED (
    SELECT owner.partner, owner.mode, endpoint.id AS endpoint_id, endpoint.events AS wanted
    FROM json_to_recordset(owners) AS owner (partner text, mode text)
    CROSS JOIN LATERAL (
      SELECT id, events FROM webhook_endpoints
      WHERE webhook_endpoints.partner = owner.partner AND webhook_endpoints.mode = owner.mode AND enabled
        AND NOT EXISTS (SELECT FROM partners WHERE slug = owner.partner AND disabled_at IS NOT NULL)
      OFFSET 0
    ) AS endpoint
  ),
  fresh AS (
    SELECT
      delivery_id || '_' || row_number() OVER (PARTITION BY place ORDER BY endpoint_id) AS id,
      stored.number AS event_number, endpoint_id, partner, mode, created_at,
      row_number() OVER (ORDER BY place, endpoint_id) AS place
    FROM numbered JOIN stored USING (id) JOIN receivers USING (partner, mode)
    WHERE wanted && ARRAY['*', type]
  ),
  delivered AS (
    INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
    SELECT id, event_number, endpoint_id, partner, mode, 'pending', created_at FROM fresh ORDER BY place
    RETURNING id, number, endpoint_id, event_number, created_at
  )
  INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at)
  SELECT id, number, endpoint_id, event_number, created_at FROM delivered;
END
$$;
