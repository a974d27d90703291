import type { EventRecord, EventStore, EveryEventFilter, ListPosition } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { startOf } from './timed-pages.ts';

export const eventColumns = 'id, partner, mode, sequence, type, body, created_at AS createdAt';

/**
 * Conditions on the deliveries of events. Few deliveries are pending or failed, and have indexes of their own: the events of
 * these deliveries are collected first.
 */
const conditions = {
  every: 'true',
  delivered: `EXISTS (
    SELECT 1 FROM deliveries INDEXED BY deliveries_by_event
    WHERE event_number = events.number AND status = 'delivered'
  )`,
  none: `NOT EXISTS (
    SELECT 1 FROM deliveries INDEXED BY deliveries_by_event WHERE event_number = events.number
  )`,
  pending: "events.number IN (SELECT event_number FROM deliveries WHERE status = 'pending')",
  failed: 'events.number IN (SELECT event_number FROM deliveries WHERE failed_as = :status)',
} as const;

/** Returns the name of the condition for a filter of events. */
function conditionOf(status: EveryEventFilter['status']): keyof typeof conditions {
  if (status === null) return 'every';
  return status === 'delivered' || status === 'none' || status === 'pending' ? status : 'failed';
}

/** Filter of all partners' events. Its latest time `until` is always a number, never `null`. */
type EveryRow = EveryEventFilter & { readonly until: number; readonly limit: number };

function statementsOn(connection: Connection, condition: string) {
  const where = `
    mode = :mode AND created_at <= :until AND (:partner IS NULL OR partner = :partner)
    AND (:type IS NULL OR type = :type) AND ${condition}
  `;
  const list = (comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    connection.prepare<[EveryRow & ListPosition], EventRecord>(`
      SELECT ${eventColumns} FROM events INDEXED BY events_by_time
      WHERE ${where} AND (created_at, id) ${comparison} (:time, :id)
      ORDER BY created_at ${order}, id ${order} LIMIT :limit
    `);
  return {
    newestFirst: list('<', 'DESC'),
    oldestFirst: list('>', 'ASC'),
    count: connection.prepare<[EveryRow], { readonly count: number }>(`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM events INDEXED BY events_by_time WHERE ${where} LIMIT :limit
      )
    `),
  };
}

/** Creates the functions that list and count the events of all partners. */
export function sqliteEventLists(database: Database): Pick<EventStore, 'everywhere' | 'count'> {
  const sql = database.prepare((connection) => ({
    every: statementsOn(connection, conditions.every),
    delivered: statementsOn(connection, conditions.delivered),
    none: statementsOn(connection, conditions.none),
    pending: statementsOn(connection, conditions.pending),
    failed: statementsOn(connection, conditions.failed),
  }));
  return {
    everywhere: ({ mode, partner, type, status, until, oldestFirst, after, limit }) =>
      database.read(() => {
        const start = startOf({ oldestFirst, after }, until);
        const latest = oldestFirst ? (until ?? Number.MAX_SAFE_INTEGER) : start.time;
        const list = sql()[conditionOf(status)][oldestFirst ? 'oldestFirst' : 'newestFirst'];
        return list.all({ mode, partner, type, status, until: latest, ...start, limit });
      }),

    count: ({ mode, partner, type, status, until }, limit) =>
      database.read(() => {
        const row = { mode, partner, type, status, until: until ?? Number.MAX_SAFE_INTEGER, limit };
        return sql()[conditionOf(status)].count.get(row)?.count ?? 0;
      }),
  };
}
