/*
 * How a claim finds its deliveries. Each endpoint has a row in `endpoint_queues`, which only one claim at a time locks, and
 * nobody who publishes: a host may keep its transaction open for minutes.
 *
 * - Deliveries that were published have numbers in the order of the commits (see event-owners.ts), so those that nobody has
 *   claimed are those after `claimed_to`.
 * - Those that were claimed before are in the index of `ready_at`, at the end of their lease or at the time of their next
 *   attempt, and none of an endpoint is ready before its `next_due`. Whoever makes one ready earlier, as a result may, lowers
 *   `next_due` first.
 *
 * So a claim begins where something is to be claimed, and never passes what was delivered and removed.
 *
 * Endpoints to look at are those with a `next_due` that has come, and all of a partner and mode with news: who publishes
 * counts up `news` of the sequence, and a claim that leaves nothing says up to which count it has `seen`. What commits after
 * the claim began has counted on. Owners take turns, and of an owner its endpoints: a claim that is full reads no further.
 */
import type { DeliveryStore } from '@ostiary/core/storage';
import { type ClaimedRow, claimedBy } from './claimed-rows.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

interface Request {
  readonly claimId: string;
  readonly now: number;
  readonly leaseEndsAt: number;
  readonly limit: number;
  readonly room: number;
  /** A JSON object: which endpoints have room for how many. */
  readonly rooms: string;
}

/** Endpoints of which a claim finds out, at most, that no lease has ended after all. */
const maxSettled = 200;

/**
 * What a claim takes. Owners and their endpoints are asked in turn, only as many as it needs (the LIMIT of `taken`). An endpoint whose row has
 * changed since the statement began, or that somebody holds, is left for the next claim: what the statement sees of its
 * deliveries may be old. A result that is just being written holds a delivery, which is passed over and not waited for.
 */
const choice = (schema: string) => `
  news AS MATERIALIZED (
    SELECT partner, mode, news FROM ${schema}.event_sequences WHERE has_news
  ),
  due AS MATERIALIZED (
    SELECT endpoint_id, partner, mode, next_due, revision FROM ${schema}.endpoint_queues WHERE next_due <= :now
  ),
  turns AS (
    SELECT partner, mode, bool_or(has_news) AS has_news, (
      SELECT max(served_at) FROM ${schema}.endpoint_queues AS queue
      WHERE queue.partner = owner.partner AND queue.mode = owner.mode
    ) AS served_at
    FROM (SELECT partner, mode, true AS has_news FROM news UNION ALL SELECT partner, mode, false FROM due) AS owner
    GROUP BY partner, mode
  ),
  taken AS MATERIALIZED (
    SELECT candidate.endpoint_id, candidate.served_at, held.queue, found.*
    FROM (SELECT * FROM turns ORDER BY served_at, partner, mode) AS turn
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT *, coalesce((:rooms::jsonb ->> endpoint_id)::integer, :room::integer) AS room
        FROM ${schema}.endpoint_queues AS queue
        WHERE queue.partner = turn.partner AND queue.mode = turn.mode AND (has_news OR next_due <= :now)
      ) AS queue
      WHERE room > 0 ORDER BY queue.served_at, endpoint_id
    ) AS candidate
    CROSS JOIN LATERAL (
      SELECT ctid AS queue FROM ${schema}.endpoint_queues AS queue
      WHERE queue.endpoint_id = candidate.endpoint_id AND queue.revision = candidate.revision
      FOR UPDATE SKIP LOCKED
    ) AS held
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT *, false AS is_new FROM (
          SELECT ctid AS row, number, due_at, ready_at FROM ${schema}.pending_deliveries AS pending
          WHERE pending.endpoint_id = candidate.endpoint_id
            AND ready_at >= candidate.next_due AND ready_at <= :now
          ORDER BY ready_at, number LIMIT candidate.room
          FOR UPDATE SKIP LOCKED
        ) AS again
        UNION ALL
        SELECT *, true FROM (
          SELECT ctid, number, due_at, ready_at FROM ${schema}.pending_deliveries AS pending
          WHERE pending.endpoint_id = candidate.endpoint_id AND number > candidate.claimed_to
          ORDER BY number LIMIT candidate.room
        ) AS published
      ) AS ready
      ORDER BY is_new, ready_at, number LIMIT candidate.room
    ) AS found
    LIMIT :limit
  )
`;

/**
 * The leases, and the rows of the endpoints: of those that something was taken of, and of those that turn out to have nothing
 * ready. One that is due later than it was published is set aside, among those that were claimed before.
 *
 * A claim does not wait for the disk: nothing of it was promised to anyone. One that a crash of the server undoes is made
 * again, and what its attempt led to is refused. `set_config` ends with the transaction, which is this statement.
 */
const leases = (schema: string) => `
  claimed AS (
    UPDATE ${schema}.pending_deliveries SET
      claim_id = CASE WHEN due_at <= :now THEN :claimId END,
      ready_at = CASE WHEN due_at <= :now THEN :leaseEndsAt ELSE due_at END
    WHERE ctid = ANY (ARRAY (SELECT row FROM taken))
      AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    RETURNING id, number, endpoint_id, event_number, attempts, due_at, claim_id
  ),
  settled AS MATERIALIZED (
    SELECT queue.ctid AS queue
    FROM due JOIN ${schema}.endpoint_queues AS queue USING (endpoint_id, revision)
    WHERE endpoint_id NOT IN (SELECT endpoint_id FROM taken)
      AND (
        SELECT ready_at FROM ${schema}.pending_deliveries AS pending
        WHERE pending.endpoint_id = due.endpoint_id
          AND ready_at >= due.next_due AND ready_at <= :now
        ORDER BY ready_at LIMIT 1
      ) IS NULL
    LIMIT ${maxSettled}
    FOR UPDATE OF queue SKIP LOCKED
  ),
  visited AS (
    SELECT
      queue AS row, max(number) FILTER (WHERE is_new) AS claimed_to,
      min(CASE WHEN due_at <= :now THEN :leaseEndsAt::bigint ELSE due_at END) AS next_due
    FROM taken GROUP BY queue
    UNION ALL
    SELECT queue, NULL, NULL FROM settled
  ),
  written AS (
    UPDATE ${schema}.endpoint_queues AS queue SET
      claimed_to = coalesce(visited.claimed_to, queue.claimed_to), served_at = :now, revision = revision + 1,
      next_due = least(visited.next_due, CASE WHEN queue.next_due <= :now THEN (
        SELECT ready_at FROM ${schema}.pending_deliveries AS pending
        WHERE pending.endpoint_id = queue.endpoint_id AND ready_at >= queue.next_due
          AND ctid NOT IN (SELECT row FROM taken)
        ORDER BY ready_at LIMIT 1
      ) ELSE queue.next_due END)
    FROM visited WHERE queue.ctid = visited.row AND queue.ctid = ANY (ARRAY (SELECT row FROM visited))
  )
`;

/** A claim that is not full has seen the news of those whose endpoints have nothing left. */
const noted = (schema: string) => `
  quiet AS (
    SELECT partner, mode, news.news
    FROM news JOIN ${schema}.event_sequences AS sequence USING (partner, mode)
    WHERE (SELECT count(*) FROM taken) < :limit
      AND NOT EXISTS (
        SELECT FROM ${schema}.endpoint_queues AS queue
        CROSS JOIN LATERAL (
          SELECT FROM ${schema}.pending_deliveries AS pending
          WHERE pending.endpoint_id = queue.endpoint_id AND number > claimed_to
          ORDER BY number LIMIT 1
        ) AS waiting
        WHERE queue.partner = news.partner AND queue.mode = news.mode
      )
    FOR UPDATE OF sequence SKIP LOCKED
  ),
  seen AS (
    UPDATE ${schema}.event_sequences AS sequence SET seen = quiet.news
    FROM quiet WHERE sequence.partner = quiet.partner AND sequence.mode = quiet.mode
  )
`;

/** The worker's hold on deliveries. */
export function postgresDeliveryClaims(database: Database): Pick<DeliveryStore, 'claim'> {
  const { schema } = database;
  const claim = statement<Request, ClaimedRow>(`
    WITH ${choice(schema)}, ${leases(schema)}, ${noted(schema)}
    SELECT
      claimed.number, claimed.id, endpoint_id AS "endpointId", events.id AS "eventId", type AS "eventType", body,
      attempts + 1 AS attempt, claimed.due_at AS "dueAt", is_new AS "isNew", ready_at AS "readyAt",
      NULL AS partner, NULL AS mode, NULL AS url, NULL AS "sealedSecret", NULL::bigint AS "servedAt"
    FROM claimed
    JOIN taken USING (number, endpoint_id)
    JOIN ${schema}.events ON events.number = event_number
    WHERE claim_id IS NOT NULL
    UNION ALL
    SELECT
      NULL, NULL, endpoint_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, partner, mode, url, sealed_secret, served_at
    FROM (SELECT DISTINCT endpoint_id, served_at FROM taken) AS receiver
    JOIN ${schema}.webhook_endpoints ON id = endpoint_id
    WHERE id = ANY (ARRAY (SELECT endpoint_id FROM taken))
  `);

  return {
    async claim({ claimId, now, leaseMs, limit, room, rooms }) {
      const request = { claimId, now, leaseEndsAt: now + leaseMs, limit, room };
      const named = JSON.stringify(Object.fromEntries(rooms));
      const rows = await database.changeUnsynced((connection) =>
        claim.all(connection, { ...request, rooms: named }),
      );
      return claimedBy(claimId, rows);
    },
  };
}
