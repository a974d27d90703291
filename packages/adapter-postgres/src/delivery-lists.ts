import type {
  AttemptRecord,
  DeliveryCount,
  DeliveryRecord,
  DeliveryStore,
  ListPosition,
  Owner,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Connection, statement } from './statement.ts';
import { startOf } from './timed-pages.ts';

type DeliveryRow = Omit<DeliveryRecord, 'attempts'> & { readonly attempts: string };

/**
 * Number of pending deliveries of a partner, or to the endpoint of the filter, up to which a list of pending
 * deliveries sorts them. With more, the list is read along the index of all deliveries.
 */
const fewPending = 2_000;

/** Partner, mode and filters of a list. */
type Choice = Parameters<DeliveryStore['count']>[0];

/**
 * Parameters of a query for a page of deliveries: the filter, the position after which the page starts, and
 * its length.
 */
type Page = Omit<Parameters<DeliveryStore['list']>[0], 'after' | 'oldestFirst'> & ListPosition;

/**
 * Creates the function that reads deliveries with their attempts inside a running transaction, ordered by
 * endpoint id.
 */
export function postgresStoredDeliveries({ schema }: Pick<Database, 'schema'>) {
  const find = statement<{ ids: readonly string[] }, DeliveryRow>(
    shown(schema, `SELECT * FROM ${schema}.deliveries WHERE id = ANY (:ids)`, 'endpoint_id'),
  );
  return async (connection: Connection, ids: readonly string[]): Promise<DeliveryRecord[]> =>
    (await find.all(connection, { ids })).map(deliveryOf);
}

const ofEndpoint = '(:endpointId::text IS NULL OR endpoint_id = :endpointId)';
const withStatus =
  "(:status::text IS NULL OR CASE :status WHEN 'failing' THEN failed_as ELSE status END = :status)";

/** Creates the statements that list deliveries in one direction. */
function pagesIn(schema: string, comparison: '<' | '>', order: 'ASC' | 'DESC') {
  // Planned with the actual parameters, so that a filter of `null` costs nothing.
  const filter = `
    partner = :partner AND mode = :mode AND (created_at, id) ${comparison} (:time, :id)
    AND ${ofEndpoint} AND ${withStatus}
  `;
  const sorted = [`created_at ${order}`, `id ${order}`];
  const firstOf = (found: string) => `SELECT * FROM ${found} ORDER BY ${sorted.join()} LIMIT :limit`;
  const listOf = (found: string) => statement<Page, DeliveryRow>(shown(schema, firstOf(found), ...sorted));
  const list = listOf(`(SELECT * FROM ${schema}.deliveries WHERE ${filter}) AS found`);

  const listFailed = listOf(
    `(SELECT * FROM ${schema}.deliveries WHERE ${filter} AND failed_as = :status) AS found`,
  );

  // The owner is compared in a way that fits no index: the owner's index would lead to the deliveries to all
  // of its endpoints.
  const listFailedOfEndpoint = listOf(`(
    SELECT * FROM ${schema}.deliveries
    WHERE endpoint_id = :endpointId AND failed_as = :status AND (created_at, id) ${comparison} (:time, :id)
      AND (partner = :partner AND mode = :mode) IS TRUE
  ) AS found`);

  // Few pending deliveries are found through the table of pending ones and then sorted. With many, walking
  // along the index of all deliveries finds the newest soon.
  const pendingOf = `
    FROM ${schema}.webhook_endpoints AS endpoint
    JOIN ${schema}.pending_deliveries AS pending ON pending.endpoint_id = endpoint.id
    WHERE endpoint.partner = :partner AND endpoint.mode = :mode
      AND (:endpointId::text IS NULL OR endpoint.id = :endpointId)
  `;
  const countPending = statement<Page, { readonly count: number }>(
    `SELECT count(*) AS count FROM (SELECT ${pendingOf} LIMIT ${fewPending + 1}) AS few`,
  );
  const listPending = listOf(`(
    SELECT * FROM ${schema}.deliveries
    WHERE number = ANY (ARRAY (SELECT number ${pendingOf})) AND ${filter}
  ) AS found`);

  // Sort the few deliveries of one event: PostgreSQL by itself might walk through all deliveries of the
  // owner.
  const listOfEvent = listOf(`(
    SELECT * FROM (
      SELECT * FROM ${schema}.deliveries
      WHERE event_number = (SELECT number FROM ${schema}.events WHERE id = :eventId)
      OFFSET 0
    ) AS of_event WHERE ${filter}
  ) AS found`);

  return { list, listFailed, listFailedOfEndpoint, countPending, listPending, listOfEvent };
}

/** Creates the statements that count deliveries along the same indexes as the lists. */
function countsIn(schema: string) {
  const owner = 'partner = :partner AND mode = :mode';
  const count = (rows: string) =>
    statement<Choice & { readonly limit: number }, { readonly count: number }>(
      `SELECT count(*) AS count FROM (SELECT FROM ${rows} LIMIT :limit) AS counted`,
    );
  return {
    // The order makes PostgreSQL walk along an index.
    all: count(
      `${schema}.deliveries WHERE ${owner} AND ${ofEndpoint} AND ${withStatus} ORDER BY created_at DESC, id DESC`,
    ),
    failed: count(`${schema}.deliveries WHERE ${owner} AND ${ofEndpoint} AND failed_as = :status`),
    pending: count(`${schema}.webhook_endpoints AS endpoint
      JOIN ${schema}.pending_deliveries AS pending ON pending.endpoint_id = endpoint.id
      WHERE ${owner} AND (:endpointId::text IS NULL OR endpoint.id = :endpointId)`),
    ofEvent: count(`(
        SELECT * FROM ${schema}.deliveries
        WHERE event_number = (SELECT number FROM ${schema}.events WHERE id = :eventId)
        OFFSET 0
      ) AS of_event WHERE ${owner} AND ${ofEndpoint} AND ${withStatus}`),
  };
}

export function postgresDeliveryLists(
  database: Database,
): Pick<DeliveryStore, 'find' | 'findById' | 'list' | 'count' | 'latestStates' | 'countBySteps'> {
  const { schema } = database;
  const find = statement<Owner & { readonly id: string }, DeliveryRow>(
    shown(
      schema,
      `SELECT * FROM ${schema}.deliveries WHERE id = :id AND partner = :partner AND mode = :mode`,
      'id',
    ),
  );
  const findById = statement<{ readonly id: string }, DeliveryRow>(
    shown(schema, `SELECT * FROM ${schema}.deliveries WHERE id = :id`, 'id'),
  );
  const pages = { newestFirst: pagesIn(schema, '<', 'DESC'), oldestFirst: pagesIn(schema, '>', 'ASC') };

  const countOf = countsIn(schema);

  // Fetches the few deliveries of each event first, and then sorts them (`OFFSET 0`), for the same reason as in `listOfEvent`.
  const latest = statement<
    Parameters<DeliveryStore['latestStates']>[0],
    { readonly eventId: string; readonly states: string }
  >(`
    SELECT events.id AS "eventId", (
      SELECT coalesce(json_agg(state ORDER BY created_at DESC, id DESC), '[]')::text FROM (
        SELECT coalesce(failed_as, status) AS state, created_at, id FROM (
          SELECT * FROM ${schema}.deliveries WHERE event_number = events.number OFFSET 0
        ) AS of_event
        ORDER BY created_at DESC, id DESC LIMIT :limit
      ) AS latest
    ) AS states
    FROM ${schema}.events WHERE events.id = ANY (:eventIds::text[])
      AND (:partner::text IS NULL OR partner = :partner) AND mode = :mode
  `);

  const counts = statement<Parameters<DeliveryStore['countBySteps']>[0], DeliveryCount>(`
    SELECT (created_at - :since) / :stepMs AS step, state, count(*) AS count
    FROM (
      SELECT created_at, coalesce(failed_as, status) AS state FROM ${schema}.deliveries
      WHERE partner = :partner AND mode = :mode AND endpoint_id = :endpointId AND created_at >= :since
      ORDER BY created_at DESC, id DESC LIMIT :limit
    ) AS newest GROUP BY step, state ORDER BY step, state
  `);

  async function chosenFor(connection: Connection, page: Page, oldestFirst: boolean) {
    const statements = pages[oldestFirst ? 'oldestFirst' : 'newestFirst'];
    const { list, listFailed, listFailedOfEndpoint, countPending, listPending, listOfEvent } = statements;
    if (page.eventId !== null) return listOfEvent;
    if (page.status === null || page.status === 'delivered') return list;
    if (page.status !== 'pending') return page.endpointId === null ? listFailed : listFailedOfEndpoint;
    const { count = 0 } = (await countPending.get(connection, page)) ?? {};
    return count > fewPending ? list : listPending;
  }

  function countFor({ eventId, status }: Choice) {
    if (eventId !== null) return countOf.ofEvent;
    if (status === 'pending') return countOf.pending;
    return status === null || status === 'delivered' ? countOf.all : countOf.failed;
  }

  return {
    find: ({ partner, mode }, id) =>
      database.read(async (connection) => {
        const row = await find.get(connection, { partner, mode, id });
        return row === undefined ? null : deliveryOf(row);
      }),

    findById: (id) =>
      database.read(async (connection) => {
        const row = await findById.get(connection, { id });
        return row === undefined ? null : deliveryOf(row);
      }),

    list: ({ partner, mode, endpointId, eventId, status, oldestFirst = false, after, limit }) => {
      const start = startOf({ oldestFirst, after }, null);
      const page = { partner, mode, endpointId, eventId, status, ...start, limit };
      return database.read(async (connection) => {
        const chosen = await chosenFor(connection, page, oldestFirst);
        return (await chosen.all(connection, page)).map(deliveryOf);
      });
    },

    async count({ partner, mode, endpointId, eventId, status }, limit) {
      const choice = { partner, mode, endpointId, eventId, status };
      const row = await database.get(countFor(choice), { ...choice, limit });
      return row?.count ?? 0;
    },

    latestStates: (request) =>
      database.read(async (connection) => {
        const rows = await latest.all(connection, request);
        return new Map(rows.map(({ eventId, states }) => [eventId, JSON.parse(states)]));
      }),

    countBySteps: (request) => database.read((connection) => counts.all(connection, request)),
  };
}

/**
 * Builds a query for a page of deliveries together with their events, attempts and next attempt times, in one
 * statement.
 */
function shown(schema: string, page: string, ...order: readonly string[]): string {
  return `
    SELECT
      page.id, page.partner, page.mode, events.id AS "eventId", type AS "eventType",
      page.endpoint_id AS "endpointId", status, page.created_at AS "createdAt",
      CASE WHEN status = 'pending' THEN (
        SELECT due_at FROM ${schema}.pending_deliveries AS pending WHERE pending.id = page.id
      ) END AS "nextAttemptAt",
      (
        SELECT coalesce(json_agg(attempt ORDER BY attempt.number), '[]')::text FROM (
          SELECT number, at, duration_ms AS "durationMs", http_status AS "httpStatus", error, response
          FROM ${schema}.delivery_attempts WHERE delivery_number = page.number
          UNION ALL
          SELECT final_attempt, final_at, final_duration_ms, final_http_status, final_error, final_response
          WHERE final_attempt IS NOT NULL
        ) AS attempt
      ) AS attempts
    FROM (${page}) AS page JOIN ${schema}.events ON events.number = page.event_number
    ORDER BY ${order.map((column) => `page.${column}`).join()}
  `;
}

function deliveryOf({ attempts, ...delivery }: DeliveryRow): DeliveryRecord {
  const logged: AttemptRecord[] = JSON.parse(attempts);
  return { ...delivery, attempts: logged };
}
