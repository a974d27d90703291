import type {
  ListPosition,
  LoggedRequest,
  LoggedRequestFilter,
  Owner,
  Quota,
  RequestLog,
} from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { startOf } from './timed-pages.ts';

/** Filter of logged API requests. Its latest time `until` is always a number, never `null`. */
type Choice = Pick<LoggedRequestFilter, 'partner' | 'mode' | 'limit'> & { readonly until: number };

const columns = `
  id, partner, mode, key_id AS keyId, created_at AS createdAt, duration_ms AS durationMs, method, route, status, code,
  sent, answered
`;

/** Prepares the statements that list and count logged API requests of all partners or of one partner. */
function listsOn(connection: Connection, owner: string) {
  const list = (condition: string, comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    connection.prepare<[Choice & ListPosition], LoggedRequest>(`
      SELECT ${columns} FROM logged_requests
      WHERE ${owner} AND ${condition} AND created_at <= :until AND (created_at, id) ${comparison} (:time, :id)
      ORDER BY created_at ${order}, id ${order} LIMIT :limit
    `);
  const of = (condition: string) => ({
    newestFirst: list(condition, '<', 'DESC'),
    oldestFirst: list(condition, '>', 'ASC'),
    count: connection.prepare<[Choice], { readonly count: number }>(`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM logged_requests WHERE ${owner} AND ${condition} AND created_at <= :until LIMIT :limit
      )
    `),
  });
  return { all: of('true'), failed: of('status >= 400') };
}

export function sqliteRequestLog(database: Database): RequestLog {
  const sql = database.prepare((connection) => ({
    insert: connection.prepare<[LoggedRequest]>(`
      INSERT INTO logged_requests (
        id, partner, mode, key_id, created_at, duration_ms, method, route, status, code, sent, answered
      )
      VALUES (
        :id, :partner, :mode, :keyId, :createdAt, :durationMs, :method, :route, :status, :code, :sent, :answered
      )
      ON CONFLICT (id) DO NOTHING
    `),

    // The plus signs are explained at `findToken` in grants.ts.
    trim: connection.prepare<[Owner & { readonly most: number }]>(`
      DELETE FROM logged_requests
      WHERE partner = +:partner AND mode = +:mode AND (created_at, id) <= (
        SELECT created_at, id FROM logged_requests
        WHERE partner = +:partner AND mode = +:mode
        ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET +:most
      )
    `),

    ofPartner: listsOn(connection, 'partner = :partner AND mode = :mode'),
    ofAll: listsOn(connection, 'mode = :mode'),

    find: connection.prepare<[Owner & { readonly id: string }], LoggedRequest>(`
      SELECT ${columns} FROM logged_requests WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: connection.prepare<[string], LoggedRequest>(`
      SELECT ${columns} FROM logged_requests WHERE id = ?
    `),

    removeOldest: connection.prepare<[Owner & Quota & { readonly limit: number }]>(`
      DELETE FROM logged_requests WHERE id IN (
        SELECT id FROM (
          SELECT id, created_at, row_number() OVER newest AS rows,
            sum(ifnull(octet_length(sent), 0) + ifnull(octet_length(answered), 0)) OVER newest AS bytes
          FROM logged_requests WHERE partner = :partner AND mode = :mode
          WINDOW newest AS (ORDER BY created_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
        )
        WHERE rows > :rows OR bytes > :bytes
        ORDER BY created_at, id LIMIT :limit
      )
    `),

    purge: connection.prepare<[{ readonly before: number; readonly limit: number }]>(`
      DELETE FROM logged_requests WHERE id IN (
        SELECT id FROM logged_requests WHERE created_at < :before ORDER BY created_at LIMIT :limit
      )
    `),
  }));

  const listsFor = ({ partner, failed }: Pick<LoggedRequestFilter, 'partner' | 'failed'>) =>
    sql()[partner === null ? 'ofAll' : 'ofPartner'][failed ? 'failed' : 'all'];

  return {
    async append(requests, most) {
      const rows = requests.map((request) => ({ ...request }));
      const owners = new Map(rows.map(({ partner, mode }) => [`${mode} ${partner}`, { partner, mode }]));
      await database.write(() => {
        for (const row of rows) sql().insert.run(row);
        for (const owner of owners.values()) sql().trim.run({ ...owner, most });
      });
    },

    list: ({ partner, mode, failed, until = null, oldestFirst = false, after, limit }) =>
      database.read(() => {
        const start = startOf({ oldestFirst, after }, until);
        const latest = oldestFirst ? (until ?? Number.MAX_SAFE_INTEGER) : start.time;
        const list = listsFor({ partner, failed })[oldestFirst ? 'oldestFirst' : 'newestFirst'];
        return list.all({ partner, mode, until: latest, ...start, limit });
      }),

    count: ({ partner, mode, failed, until = null }, limit) =>
      database.read(() => {
        const choice = { partner, mode, until: until ?? Number.MAX_SAFE_INTEGER, limit };
        return listsFor({ partner, failed }).count.get(choice)?.count ?? 0;
      }),

    find: ({ partner, mode }, id) => database.read(() => sql().find.get({ partner, mode, id }) ?? null),

    findById: (id) => database.read(() => sql().findById.get(id) ?? null),

    purge: (before, limit) => database.write(() => sql().purge.run({ before, limit }).changes),

    removeOldest: ({ partner, mode, rows, bytes, limit }) =>
      database.write(() => sql().removeOldest.run({ partner, mode, rows, bytes, limit }).changes),
  };
}
