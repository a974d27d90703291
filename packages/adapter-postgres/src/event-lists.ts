import type { EventRecord, EventStore, EveryEventFilter, ListPosition } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { startOf } from './timed-pages.ts';

export const eventColumns = 'id, partner, mode, sequence, type, body, created_at AS "createdAt"';

/** Filter of all partners' events. Its latest time `until` is always a number, never `null`. */
type EveryRow = EveryEventFilter & { readonly until: number; readonly limit: number };

/** Creates the conditions on the deliveries of events, by the statuses that a filter can name. */
function conditionsIn(schema: string) {
  // Few deliveries are pending or failed, so their events are found through them. In the other conditions
  // OFFSET keeps PostgreSQL from reading all deliveries.
  return {
    every: 'true',
    delivered: `EXISTS (
      SELECT FROM ${schema}.deliveries WHERE event_number = events.number AND status = 'delivered' OFFSET 0
    )`,
    none: `NOT EXISTS (SELECT FROM ${schema}.deliveries WHERE event_number = events.number OFFSET 0)`,
    pending: `number IN (SELECT event_number FROM ${schema}.pending_deliveries)`,
    failed: `number IN (SELECT event_number FROM ${schema}.deliveries WHERE failed_as = :status)`,
  } as const;
}

/** Returns the name of the condition for a filter of events. */
function conditionOf(status: EveryEventFilter['status']): keyof ReturnType<typeof conditionsIn> {
  if (status === null) return 'every';
  return status === 'delivered' || status === 'none' || status === 'pending' ? status : 'failed';
}

/** Creates the statements that list and count events under a condition. */
function statementsIn(schema: string, condition: string) {
  const where = `
    mode = :mode AND created_at <= :until AND (:partner::text IS NULL OR partner = :partner)
    AND (:type::text IS NULL OR type = :type) AND ${condition}
  `;
  const list = (comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    statement<EveryRow & ListPosition, EventRecord>(`
      SELECT ${eventColumns} FROM ${schema}.events
      WHERE ${where} AND (created_at, id) ${comparison} (:time, :id)
      ORDER BY created_at ${order}, id ${order} LIMIT :limit
    `);
  return {
    newestFirst: list('<', 'DESC'),
    oldestFirst: list('>', 'ASC'),
    // The order makes PostgreSQL walk along the index, and not read the table.
    count: statement<EveryRow, { readonly count: number }>(`
      SELECT count(*) AS count FROM (
        SELECT FROM ${schema}.events WHERE ${where} ORDER BY created_at DESC LIMIT :limit
      ) AS counted
    `),
  };
}

/**
 * Creates the functions that list and count the events of all partners. PostgreSQL plans each statement with
 * the actual parameters, so that a filter of `null` costs nothing.
 */
export function postgresEventLists(database: Database): Pick<EventStore, 'everywhere' | 'count'> {
  const { schema } = database;
  const conditions = conditionsIn(schema);
  const sql = {
    every: statementsIn(schema, conditions.every),
    delivered: statementsIn(schema, conditions.delivered),
    none: statementsIn(schema, conditions.none),
    pending: statementsIn(schema, conditions.pending),
    failed: statementsIn(schema, conditions.failed),
  };

  return {
    everywhere({ mode, partner, type, status, until, oldestFirst, after, limit }) {
      const start = startOf({ oldestFirst, after }, until);
      const latest = oldestFirst ? (until ?? Number.MAX_SAFE_INTEGER) : start.time;
      const list = sql[conditionOf(status)][oldestFirst ? 'oldestFirst' : 'newestFirst'];
      return database.all(list, { mode, partner, type, status, until: latest, ...start, limit });
    },

    async count({ mode, partner, type, status, until }, limit) {
      const row = { mode, partner, type, status, until: until ?? Number.MAX_SAFE_INTEGER, limit };
      return (await database.get(sql[conditionOf(status)].count, row))?.count ?? 0;
    },
  };
}
