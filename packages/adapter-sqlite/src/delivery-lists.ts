import type {
  AttemptRecord,
  DeliveryRecord,
  DeliveryStatus,
  DeliveryStore,
  ListPosition,
  Owner,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';

type DeliveryRow = Omit<DeliveryRecord, 'attempts'> & {
  readonly number: number;
  readonly attempts: number;
  readonly finalAt: number | null;
  readonly finalDurationMs: number;
  readonly finalHttpStatus: number | null;
  readonly finalError: string | null;
  readonly finalResponse: string | null;
};

/** What comes after the position, newest first. */
type Page = Owner & ListPosition & { readonly status: DeliveryStatus | null; readonly limit: number };

/** Deliveries with their attempts, outside a transaction or inside one that is under way. */
export interface StoredDeliveries {
  /** The last delivery of an event to an endpoint: if one is pending, it is this one. */
  last(pair: { readonly eventNumber: number; readonly endpointId: string }): DeliveryRecord | null;
  find(id: string): DeliveryRecord | null;
}

const columns = `
  deliveries.number AS number, deliveries.id AS id, deliveries.partner AS partner, deliveries.mode AS mode,
  events.id AS eventId, type AS eventType, endpoint_id AS endpointId, status,
  deliveries.created_at AS createdAt, CASE WHEN status = 'pending' THEN due_at END AS nextAttemptAt,
  attempts, final_at AS finalAt, final_duration_ms AS finalDurationMs, final_http_status AS finalHttpStatus,
  final_error AS finalError, final_response AS finalResponse
`;
const source = 'deliveries CROSS JOIN events ON events.number = event_number';

const page = '(deliveries.created_at, deliveries.id) < (:time, :id)';
const withStatus = '(:status IS NULL OR status = :status)';
const newestFirst = 'ORDER BY deliveries.created_at DESC, deliveries.id DESC LIMIT :limit';

export function sqliteStoredDeliveries(database: Database): StoredDeliveries {
  const withAttempts = deliveriesWithAttempts(database);
  const sql = database.prepare((connection) => ({
    last: connection.prepare<[{ eventNumber: number; endpointId: string }], DeliveryRow>(`
      SELECT ${columns} FROM ${source}
      WHERE event_number = :eventNumber AND endpoint_id = :endpointId
      ORDER BY deliveries.number DESC LIMIT 1
    `),

    find: connection.prepare<[string], DeliveryRow>(`
      SELECT ${columns} FROM ${source} WHERE deliveries.id = ?
    `),
  }));

  const found = (row: DeliveryRow | undefined) => (row === undefined ? null : withAttempts(row));
  return {
    last: (pair) => found(sql().last.get(pair)),
    find: (id) => found(sql().find.get(id)),
  };
}

export function sqliteDeliveryLists(database: Database): Pick<DeliveryStore, 'list'> {
  const withAttempts = deliveriesWithAttempts(database);
  const sql = database.prepare((connection) => ({
    ofOwner: connection.prepare<[Page], DeliveryRow>(`
      SELECT ${columns} FROM ${source}
      WHERE deliveries.partner = :partner AND deliveries.mode = :mode AND ${withStatus} AND ${page}
      ${newestFirst}
    `),

    // The pluses keep SQLite from walking through all endpoints of the owner.
    ofEndpoint: connection.prepare<[Page & { endpointId: string }], DeliveryRow>(`
      SELECT ${columns} FROM ${source}
      WHERE endpoint_id = :endpointId AND +deliveries.partner = :partner AND +deliveries.mode = :mode
        AND ${withStatus} AND ${page}
      ${newestFirst}
    `),

    undelivered: connection.prepare<[Page & { endpointId: string | null }], DeliveryRow>(`
      SELECT ${columns} FROM deliveries INDEXED BY deliveries_undelivered
      CROSS JOIN events ON events.number = event_number
      WHERE deliveries.partner = :partner AND deliveries.mode = :mode AND status = :status
        AND status IN ('dropped', 'cancelled') AND (:endpointId IS NULL OR endpoint_id = :endpointId) AND ${page}
      ${newestFirst}
    `),

    // Sorts what is pending, so that no index has to follow each delivery to its end. An endpoint that was removed
    // has nothing pending.
    pending: connection.prepare<[Page & { endpointId: string | null }], DeliveryRow>(`
      SELECT ${columns} FROM deliveries INDEXED BY deliveries_pending
      CROSS JOIN events ON events.number = event_number
      WHERE status = 'pending' AND endpoint_id IN (
          SELECT id FROM webhook_endpoints
          WHERE partner = :partner AND mode = :mode AND (:endpointId IS NULL OR id = :endpointId)
        ) AND ${page}
      ${newestFirst}
    `),

    // Sorts what there is of one event. Left alone, SQLite would rather walk through everything of the owner.
    ofEvent: connection.prepare<[Page & { eventId: string; endpointId: string | null }], DeliveryRow>(`
      SELECT ${columns} FROM events CROSS JOIN deliveries INDEXED BY deliveries_by_event ON event_number = events.number
      WHERE events.id = :eventId AND deliveries.partner = :partner AND deliveries.mode = :mode
        AND (:endpointId IS NULL OR endpoint_id = :endpointId) AND ${withStatus} AND ${page}
      ${newestFirst}
    `),
  }));

  return {
    list: ({ partner, mode, endpointId, eventId, status, after, limit }) =>
      database.read(() => {
        const { time, id } = after ?? { time: Number.MAX_SAFE_INTEGER, id: '' };
        const request = { partner, mode, status, time, id, limit };
        if (eventId !== null)
          return sql()
            .ofEvent.all({ ...request, eventId, endpointId })
            .map(withAttempts);
        if (status === 'pending')
          return sql()
            .pending.all({ ...request, endpointId })
            .map(withAttempts);
        if (status === 'dropped' || status === 'cancelled')
          return sql()
            .undelivered.all({ ...request, endpointId })
            .map(withAttempts);
        const rows =
          endpointId === null ? sql().ofOwner.all(request) : sql().ofEndpoint.all({ ...request, endpointId });
        return rows.map(withAttempts);
      }),
  };
}

function deliveriesWithAttempts(database: Database): (row: DeliveryRow) => DeliveryRecord {
  const sql = database.prepare((connection) => ({
    attempts: connection.prepare<[number], AttemptRecord>(`
      SELECT number, at, duration_ms AS durationMs, http_status AS httpStatus, error, response
      FROM delivery_attempts WHERE delivery_number = ? ORDER BY number
    `),
  }));

  return ({
    number,
    attempts,
    finalAt,
    finalDurationMs: durationMs,
    finalHttpStatus: httpStatus,
    finalError: error,
    finalResponse: response,
    ...delivery
  }) => {
    const earlier = sql().attempts.all(number);
    if (finalAt === null) return { ...delivery, attempts: earlier };
    const final = { number: attempts, at: finalAt, durationMs, httpStatus, error, response };
    return { ...delivery, attempts: [...earlier, final] };
  };
}
