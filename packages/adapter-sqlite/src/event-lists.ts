import type { EventRecord, EventStore, EveryEventFilter, ListPosition } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { startOf } from './timed-pages.ts';

export const eventColumns = 'id, partner, mode, sequence, type, body, created_at AS createdAt';

/** Filter of all partners' events. Its latest time `until` is always a number, never `null`. */
type EveryRow = EveryEventFilter & { readonly until: number; readonly limit: number };

function statementsOn(connection: Connection) {
  const where = 'mode = :mode AND created_at <= :until AND (:partner IS NULL OR partner = :partner)';
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
  const sql = database.prepare(statementsOn);
  return {
    everywhere: ({ mode, partner, until, oldestFirst, after, limit }) =>
      database.read(() => {
        const start = startOf({ oldestFirst, after }, until);
        const latest = oldestFirst ? (until ?? Number.MAX_SAFE_INTEGER) : start.time;
        const list = sql()[oldestFirst ? 'oldestFirst' : 'newestFirst'];
        return list.all({ mode, partner, until: latest, ...start, limit });
      }),

    count: ({ mode, partner, until }, limit) =>
      database.read(() => {
        const row = { mode, partner, until: until ?? Number.MAX_SAFE_INTEGER, limit };
        return sql().count.get(row)?.count ?? 0;
      }),
  };
}
