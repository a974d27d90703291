import type {
  DeliveryCount,
  DeliveryRecord,
  DeliveryStore,
  ListPosition,
  Owner,
} from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { startOf } from './timed-pages.ts';

type DeliveryRow = Omit<DeliveryRecord, 'attempts'> & { readonly attempts: string };

/** Partner whose events a statement selects, or `null` for all partners, and the mode of the events. */
type EventsOf = Pick<Parameters<DeliveryStore['latestStates']>[0], 'partner' | 'mode'>;

/** Partner, mode and filters of a list. */
type Choice = Parameters<DeliveryStore['count']>[0];

/**
 * Parameters of a query for a page of deliveries: the filter, the position after which the page starts, and
 * its length.
 */
type Page = Omit<Parameters<DeliveryStore['list']>[0], 'after' | 'oldestFirst'> & ListPosition;

const columns = `
  deliveries.id AS id, deliveries.partner AS partner, deliveries.mode AS mode,
  events.id AS eventId, type AS eventType, endpoint_id AS endpointId, status,
  deliveries.created_at AS createdAt, CASE WHEN status = 'pending' THEN due_at END AS nextAttemptAt,
  (
    SELECT json_group_array(json_object(
      'number', number, 'at', at, 'durationMs', duration_ms, 'httpStatus', http_status, 'error', error,
      'response', response
    ))
    FROM (
      SELECT number, at, duration_ms, http_status, error, response
      FROM delivery_attempts WHERE delivery_number = deliveries.number
      UNION ALL
      SELECT attempts, final_at, final_duration_ms, final_http_status, final_error, final_response
      WHERE final_at IS NOT NULL
      ORDER BY number
    )
  ) AS attempts
`;
const source = 'deliveries CROSS JOIN events ON events.number = event_number';

/** Prepares the query for the last delivery of an event to an endpoint, in or outside of a transaction. */
export function storedDeliveriesOn(connection: Connection) {
  const last = connection.prepare<[{ eventNumber: number; endpointId: string }], DeliveryRow>(`
    SELECT ${columns} FROM ${source}
    WHERE event_number = :eventNumber AND endpoint_id = :endpointId
    ORDER BY deliveries.number DESC LIMIT 1
  `);

  return {
    /**
     * Returns the last delivery of an event to an endpoint with its attempts; `null` if there is none. If a
     * delivery is pending, it is the last.
     */
    last(pair: { readonly eventNumber: number; readonly endpointId: string }): DeliveryRecord | null {
      const row = last.get(pair);
      return row === undefined ? null : deliveryOf(row);
    },
  };
}

function listsOn(connection: Connection) {
  const page = (from: string, where: string, comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    connection.prepare<[Page], DeliveryRow>(`
      SELECT ${columns} FROM ${from}
      WHERE ${where} AND (deliveries.created_at, deliveries.id) ${comparison} (:time, :id)
      ORDER BY deliveries.created_at ${order}, deliveries.id ${order} LIMIT :limit
    `);
  const list = (from: string, where: string) => ({
    newestFirst: page(from, where, '<', 'DESC'),
    oldestFirst: page(from, where, '>', 'ASC'),
    count: connection.prepare<[Choice & { readonly limit: number }], { readonly count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM ${from} WHERE ${where} LIMIT :limit)`,
    ),
  });
  const indexed = (index: string) =>
    `deliveries INDEXED BY ${index} CROSS JOIN events ON events.number = event_number`;
  const ofOwner = 'deliveries.partner = :partner AND deliveries.mode = :mode';
  const withStatus = "(:status IS NULL OR iif(:status = 'failing', failed_as, status) = :status)";
  const withEndpoint = '(:endpointId IS NULL OR endpoint_id = :endpointId)';

  return {
    ofOwner: list(source, `${ofOwner} AND ${withStatus}`),

    // The plus signs keep SQLite from walking through the deliveries to all endpoints of the owner.
    ofEndpoint: list(
      source,
      `endpoint_id = :endpointId AND +deliveries.partner = :partner AND +deliveries.mode = :mode AND ${withStatus}`,
    ),

    failed: list(indexed('deliveries_failed'), `${ofOwner} AND failed_as = :status`),

    failedOfEndpoint: list(
      indexed('deliveries_failed_by_endpoint'),
      `endpoint_id = :endpointId AND ${ofOwner} AND failed_as = :status`,
    ),

    // Sorts the pending deliveries, which saves updating another index for each delivery. A removed endpoint
    // has no pending deliveries.
    pending: list(
      indexed('deliveries_pending'),
      `status = 'pending' AND endpoint_id IN (
        SELECT id FROM webhook_endpoints
        WHERE partner = :partner AND mode = :mode AND (:endpointId IS NULL OR id = :endpointId)
      )`,
    ),

    // Sort the few deliveries of one event: SQLite by itself would walk through all deliveries of the owner.
    ofEvent: list(
      'events CROSS JOIN deliveries INDEXED BY deliveries_by_event ON event_number = events.number',
      `events.id = :eventId AND ${ofOwner} AND ${withEndpoint} AND ${withStatus}`,
    ),
  };
}

const findOn = (connection: Connection) =>
  connection.prepare<[Owner & { readonly id: string }], DeliveryRow>(`
    SELECT ${columns} FROM ${source}
    WHERE deliveries.id = :id AND +deliveries.partner = :partner AND +deliveries.mode = :mode
  `);

const findByIdOn = (connection: Connection) =>
  connection.prepare<[string], DeliveryRow>(`SELECT ${columns} FROM ${source} WHERE deliveries.id = ?`);

/**
 * Creates the statement for the latest states of an event's deliveries. It sorts the few deliveries of each
 * event, as `ofEvent` does.
 */
const latestStatesOn = (connection: Connection) =>
  connection.prepare<
    [EventsOf & { readonly eventIds: string; readonly limit: number }],
    { readonly eventId: string; readonly states: string }
  >(`
    SELECT events.id AS eventId, (
      SELECT json_group_array(state) FROM (
        SELECT coalesce(failed_as, status) AS state FROM deliveries INDEXED BY deliveries_by_event WHERE event_number = events.number
        ORDER BY created_at DESC, id DESC LIMIT :limit
      )
    ) AS states
    FROM json_each(:eventIds) CROSS JOIN events ON events.id = json_each.value
    WHERE (:partner IS NULL OR events.partner = :partner) AND events.mode = :mode
  `);

// Cast, because numbers are bound as floating point, whose division is not a whole number.
const countsOn = (connection: Connection) =>
  connection.prepare<[Parameters<DeliveryStore['countBySteps']>[0]], DeliveryCount>(`
    SELECT CAST((created_at - :since) / :stepMs AS INTEGER) AS step, state, count(*) AS count
    FROM (
      SELECT created_at, coalesce(failed_as, status) AS state FROM deliveries
      WHERE endpoint_id = :endpointId AND +partner = :partner AND +mode = :mode AND created_at >= :since
      ORDER BY created_at DESC, id DESC LIMIT :limit
    ) GROUP BY step, state ORDER BY step, state
  `);

export function sqliteDeliveryLists(
  database: Database,
): Pick<DeliveryStore, 'find' | 'findById' | 'list' | 'count' | 'latestStates' | 'countBySteps'> {
  const sql = database.prepare(listsOn);
  const find = database.prepare(findOn);
  const findById = database.prepare(findByIdOn);
  const latest = database.prepare(latestStatesOn);
  const counts = database.prepare(countsOn);

  function chosenFor({ eventId, endpointId, status }: Choice) {
    if (eventId !== null) return sql().ofEvent;
    if (status === 'pending') return sql().pending;
    if (status === null || status === 'delivered')
      return endpointId === null ? sql().ofOwner : sql().ofEndpoint;
    return endpointId === null ? sql().failed : sql().failedOfEndpoint;
  }

  return {
    find: ({ partner, mode }, id) =>
      database.read(() => {
        const row = find().get({ partner, mode, id });
        return row === undefined ? null : deliveryOf(row);
      }),

    findById: (id) =>
      database.read(() => {
        const row = findById().get(id);
        return row === undefined ? null : deliveryOf(row);
      }),

    list: ({ partner, mode, endpointId, eventId, status, oldestFirst = false, after, limit }) =>
      database.read(() => {
        const start = startOf({ oldestFirst, after }, null);
        const page = { partner, mode, endpointId, eventId, status, ...start, limit };
        return chosenFor(page)[oldestFirst ? 'oldestFirst' : 'newestFirst'].all(page).map(deliveryOf);
      }),

    count: ({ partner, mode, endpointId, eventId, status }, limit) =>
      database.read(() => {
        const choice = { partner, mode, endpointId, eventId, status };
        return chosenFor(choice).count.get({ ...choice, limit })?.count ?? 0;
      }),

    latestStates: ({ partner, mode, eventIds, limit }) =>
      database.read(() => {
        const rows = latest().all({ partner, mode, limit, eventIds: JSON.stringify(eventIds) });
        return new Map(rows.map(({ eventId, states }) => [eventId, JSON.parse(states)]));
      }),

    countBySteps: (request) => database.read(() => counts().all(request)),
  };
}

function deliveryOf({ attempts, ...delivery }: DeliveryRow): DeliveryRecord {
  return { ...delivery, attempts: JSON.parse(attempts) };
}
