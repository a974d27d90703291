import type { DeliveryStore } from '@ostiary/core/storage';
import { type ClaimedRow, claimedBy, inTurn } from './claimed-rows.ts';
import type { Database } from './database.ts';
import { Lookback, type Survey, serverMs, surveyPatienceMs } from './lookback.ts';
import { prepared, type Statement, statement } from './statement.ts';

interface Hold {
  readonly claimId: string;
  readonly now: number;
  readonly leaseEndsAt: number;
  readonly limit: number;
}
interface Walk extends Hold {
  readonly after: string;
  readonly perEndpoint: number;
  /** A JSON object: which endpoints have room for how many. */
  readonly slots: string;
}
interface Named extends Hold {
  readonly endpointIds: readonly string[];
  readonly rooms: readonly number[];
}
interface Bounded extends Walk {
  readonly endpointIds: readonly string[];
  /** When the oldest delivery of each of them is or was due. */
  readonly oldest: readonly number[];
  /** Of all other endpoints nothing is due before. */
  readonly since: number;
}

/** The same statement, planned for each use, and with a plan that is kept. */
interface Claiming<Request extends Hold> {
  readonly anew: Statement<Request, ClaimedRow>;
  readonly kept: Statement<Request, ClaimedRow>;
}

function claiming<Request extends Hold>(sql: string): Claiming<Request> {
  return { anew: statement(sql), kept: prepared(sql) };
}

/** Endpoints that a claim passes before it asks which ones have something due. */
const maxWalk = 500;

/** Deliveries that it looks at then, at most, those included that others hold. */
const maxKnown = 4000;

/** Deliveries that became due since a survey, and that a claim which begins there looks at for endpoints that it missed. */
const maxRecent = 500;

/** Bytes of a table. Of a larger one no plan reads all to find a row. */
const large = 2 ** 20;

/** Endpoints of a survey at most: among more than these a claim finds enough before it has passed much. */
const maxSurvey = 200;

/**
 * A parameter that is read once and that the planner does not see. What is prepared is planned anew for each use, as long as
 * plans for its values look cheaper than the one for all values; for a claim that takes a fifth of its time.
 */
const unseen = (name: string, type = 'bigint') => `(SELECT :${name}::${type})`;

/** The worker's hold on deliveries. */
export function postgresDeliveryClaims(database: Database): Pick<DeliveryStore, 'claim'> {
  const { schema } = database;

  // One statement. The endpoints of `visited` are asked in turn, only as many as it takes, and of each only the first
  // rows of the index of what is pending are read: those that are given out, and those before them that others hold.
  // What another claim or a result has in its hands at this moment is passed over. `ARRAY (…)` and MATERIALIZED keep
  // the planner from every other way. A row that changed since the statement began has another ctid: it is left for the
  // next claim. Rows come in no order, each endpoint once: what a process can do for itself is not left to the server.
  //
  // A claim does not wait for the disk: nothing of it was promised to anyone. One that a crash of the server undoes is
  // made again, and what its attempt led to is refused. `set_config` ends with the transaction, which is this statement.
  const claimOf = (visited: string, bound = '') => `
    WITH RECURSIVE ${visited},
    due AS MATERIALIZED (
      SELECT first.row
      FROM visited CROSS JOIN LATERAL (
        SELECT ctid AS row FROM ${schema}.pending_deliveries AS pending
        WHERE pending.endpoint_id = visited.endpoint_id AND due_at <= ${unseen('now')}
          AND held_until <= ${unseen('now')} ${bound}
        ORDER BY due_at, number LIMIT visited.room
        FOR UPDATE SKIP LOCKED
      ) AS first
      WHERE visited.room > 0
      LIMIT ${unseen('limit')}
    ),
    claimed AS (
      UPDATE ${schema}.pending_deliveries SET claim_id = :claimId, held_until = :leaseEndsAt
      WHERE ctid = ANY (ARRAY (SELECT row FROM due))
        AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
      RETURNING id, number, endpoint_id, event_number, attempts, due_at
    )
    SELECT
      claimed.number, claimed.id, endpoint_id AS "endpointId", events.id AS "eventId", type AS "eventType", body,
      attempts + 1 AS attempt, due_at AS "dueAt",
      NULL AS partner, NULL AS mode, NULL AS url, NULL AS "sealedSecret", NULL::boolean AS "isLarge"
    FROM claimed JOIN ${schema}.events ON events.number = event_number
    UNION ALL
    SELECT NULL, NULL, id, NULL, NULL, NULL, NULL, NULL, partner, mode, url, sealed_secret, NULL
    FROM ${schema}.webhook_endpoints WHERE id = ANY (ARRAY (SELECT DISTINCT endpoint_id FROM claimed))
    UNION ALL
    SELECT
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      pg_relation_size('${schema}.pending_deliveries') >= ${large} AND pg_relation_size('${schema}.events') >= ${large}
  `;

  // Jumps from endpoint to endpoint along the index, however many deliveries each has: first to those after `after`,
  // then, from the beginning, to the others.
  //
  // Where hundreds of endpoints were passed and the claim is not full, most of them have nothing that is due yet: then
  // the other index says what is, and only those endpoints are visited. If that is too much to look at, the walk goes on.
  const room = `(coalesce((${unseen('slots', 'jsonb')} ->> endpoint_id)::integer, :perEndpoint::integer))`;
  const jump = (walk: string) => `
    SELECT endpoint_id FROM ${schema}.pending_deliveries AS pending
    WHERE pending.endpoint_id > ${walk}.endpoint_id
    ORDER BY endpoint_id LIMIT 1
  `;
  const goesOn = `CASE WHEN turn < ${maxWalk} THEN true ELSE (SELECT count(*) > ${maxKnown} FROM known) END`;
  const claimInTurn = claiming<Walk>(
    claimOf(`
      known AS MATERIALIZED (
        SELECT endpoint_id, held_until FROM ${schema}.pending_deliveries
        WHERE due_at <= ${unseen('now')}
        ORDER BY due_at LIMIT ${maxKnown + 1}
      ),
      ahead (endpoint_id, turn) AS (
        SELECT :after::text COLLATE "C", 0
        UNION ALL
        SELECT next.endpoint_id, turn + 1 FROM ahead CROSS JOIN LATERAL (${jump('ahead')}) AS next
        WHERE ${goesOn}
      ),
      again (endpoint_id, turn) AS (
        SELECT '' COLLATE "C", max(turn) FROM ahead
        UNION ALL
        SELECT next.endpoint_id, turn + 1 FROM again CROSS JOIN LATERAL (${jump('again')}) AS next
        -- Here and not above: a filter there would read on to the end of the index.
        WHERE next.endpoint_id <= :after AND ${goesOn}
      ),
      visited AS (
        SELECT endpoint_id, ${room} AS room FROM ahead WHERE turn > 0
        UNION ALL
        SELECT endpoint_id, ${room} FROM again WHERE endpoint_id <> ''
        UNION ALL
        (
          SELECT endpoint_id, ${room}
          FROM (SELECT DISTINCT endpoint_id FROM known WHERE held_until <= :now) AS others
          WHERE (SELECT max(turn) = ${maxWalk} FROM again)
            AND NOT EXISTS (SELECT FROM ahead WHERE turn > 0 AND ahead.endpoint_id = others.endpoint_id)
            AND NOT EXISTS (SELECT FROM again WHERE again.endpoint_id = others.endpoint_id)
          ORDER BY endpoint_id <= :after, endpoint_id
        )
      )
    `),
  );

  const claimNamed = claiming<Named>(
    claimOf(`
      visited AS (
        SELECT * FROM unnest(:endpointIds::text[], :rooms::integer[]) AS named (endpoint_id, room)
      )
    `),
  );

  // Where claims cannot afford to pass what was removed: endpoints are those of the survey and those that something
  // became due for since then, which the other index says.
  const claimBounded = claiming<Bounded>(
    claimOf(
      `
      recent AS MATERIALIZED (
        SELECT endpoint_id FROM ${schema}.pending_deliveries
        WHERE due_at >= :since AND due_at <= :now AND held_until <= :now
        ORDER BY due_at LIMIT ${maxRecent}
      ),
      visited AS MATERIALIZED (
        SELECT endpoint_id, ${room} AS room, min(oldest) AS oldest
        FROM (
          SELECT * FROM unnest(:endpointIds::text[], :oldest::bigint[]) AS surveyed (endpoint_id, oldest)
          UNION ALL
          SELECT endpoint_id, :since::bigint FROM recent
        ) AS known (endpoint_id, oldest)
        GROUP BY endpoint_id
        ORDER BY endpoint_id <= :after, endpoint_id
      )
    `,
      'AND due_at >= visited.oldest',
    ),
  );

  const survey = statement<{ readonly limit: number }, Survey>(`
    WITH RECURSIVE walk AS (
      (
        SELECT endpoint_id, due_at FROM ${schema}.pending_deliveries
        ORDER BY endpoint_id, due_at LIMIT 1
      )
      UNION ALL
      SELECT ahead.* FROM walk CROSS JOIN LATERAL (
        SELECT endpoint_id, due_at FROM ${schema}.pending_deliveries AS pending
        WHERE pending.endpoint_id > walk.endpoint_id
        ORDER BY endpoint_id, due_at LIMIT 1
      ) AS ahead
    )
    SELECT
      coalesce(array_agg(endpoint_id), '{}') AS groups, coalesce(array_agg(due_at::float8), '{}') AS oldest,
      ${serverMs} AS "tookMs"
    FROM (SELECT * FROM walk LIMIT :limit) AS surveyed
  `);

  const lookback = new Lookback(async () => {
    const request = { limit: maxSurvey + 1 };
    const found = await database.read((connection) => survey.get(connection, request), surveyPatienceMs);
    return found === undefined || found.groups.length > maxSurvey ? null : found;
  });

  // A plan that is made while there is little reads all of a table for each row that it looks up, and the server may keep it
  // for a minute after there has become much. So one is kept only for as long as claims find that tables are large.
  let isLarge = false;

  return {
    async claim({ claimId, now, leaseMs, limit, perEndpoint, slots, after }) {
      const bounds = lookback.bounds(now);
      const claim = async <Request extends Hold>({ anew, kept }: Claiming<Request>, request: Request) => {
        const sent = isLarge ? kept : anew;
        const rows = await database.jot((connection) =>
          lookback.timed(bounds, () => sent.all(connection, request)),
        );
        isLarge = rows.some((row) => row.endpointId === null && row.isLarge);
        return claimedBy(claimId, after, rows);
      };

      const hold = { claimId, now, leaseEndsAt: now + leaseMs, limit };
      const walk = {
        ...hold,
        after: after ?? '',
        perEndpoint,
        slots: JSON.stringify(Object.fromEntries(slots)),
      };
      if (bounds !== null) {
        const { oldest, since } = bounds;
        const bounded = { ...walk, endpointIds: [...oldest.keys()], oldest: [...oldest.values()], since };
        return await claim(claimBounded, bounded);
      }
      if (perEndpoint > 0) return await claim(claimInTurn, walk);
      const named = inTurn([...slots], after);
      const request = { ...hold, endpointIds: named.map(([id]) => id), rooms: named.map(([, room]) => room) };
      return await claim(claimNamed, request);
    },
  };
}
