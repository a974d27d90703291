import type { EventRecord, EventStore, EveryEventFilter, ListPosition } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { startOf } from './timed-pages.ts';

export const eventColumns = 'id, partner, mode, sequence, type, body, created_at AS "createdAt"';

/** Filter of all partners' events. Its latest time `until` is always a number, never `null`. */
type EveryRow = EveryEventFilter & { readonly until: number; readonly limit: number };

/**
 * Creates the functions that list and count the events of all partners. PostgreSQL plans each statement with
 * the actual parameters, so that a filter of `null` costs nothing.
 */
export function postgresEventLists(database: Database): Pick<EventStore, 'everywhere' | 'count'> {
  const { schema } = database;
  const where = 'mode = :mode AND created_at <= :until AND (:partner::text IS NULL OR partner = :partner)';
  const list = (comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    statement<EveryRow & ListPosition, EventRecord>(`
      SELECT ${eventColumns} FROM ${schema}.events
      WHERE ${where} AND (created_at, id) ${comparison} (:time, :id)
      ORDER BY created_at ${order}, id ${order} LIMIT :limit
    `);
  const lists = { newestFirst: list('<', 'DESC'), oldestFirst: list('>', 'ASC') };
  // The order makes PostgreSQL walk along the index, and not read the table.
  const count = statement<EveryRow, { readonly count: number }>(`
    SELECT count(*) AS count FROM (
      SELECT FROM ${schema}.events WHERE ${where} ORDER BY created_at DESC LIMIT :limit
    ) AS counted
  `);

  return {
    everywhere({ mode, partner, until, oldestFirst, after, limit }) {
      const start = startOf({ oldestFirst, after }, until);
      const latest = oldestFirst ? (until ?? Number.MAX_SAFE_INTEGER) : start.time;
      const list = lists[oldestFirst ? 'oldestFirst' : 'newestFirst'];
      return database.all(list, { mode, partner, until: latest, ...start, limit });
    },

    async count({ mode, partner, until }, limit) {
      const row = { mode, partner, until: until ?? Number.MAX_SAFE_INTEGER, limit };
      return (await database.get(count, row))?.count ?? 0;
    },
  };
}
