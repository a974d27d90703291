import type {
  ListPosition,
  LoggedRequest,
  LoggedRequestFilter,
  Owner,
  Quota,
  RequestLog,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { startOf } from './timed-pages.ts';
import { longTimeoutMs } from './timeouts.ts';

/** Filter of logged API requests. Its latest time `until` is always a number, never `null`. */
type Choice = Pick<LoggedRequestFilter, 'partner' | 'mode' | 'failed' | 'limit'> & { readonly until: number };
type Page = Choice & ListPosition;

const columns = `
  id, partner, mode, key_id AS "keyId", created_at AS "createdAt", duration_ms AS "durationMs", method, route, status,
  code, sent, answered
`;

// Planned with the actual parameters, so that a filter of `null` costs nothing.
const chosen = `
  (:partner::text IS NULL OR partner = :partner) AND mode = :mode AND created_at <= :until
  AND (NOT :failed::boolean OR status >= 400)
`;

const pageOf = (schema: string, comparison: '<' | '>', order: 'ASC' | 'DESC') => `
  SELECT ${columns} FROM ${schema}.logged_requests
  WHERE ${chosen} AND (created_at, id) ${comparison} (:time, :id)
  ORDER BY created_at ${order}, id ${order} LIMIT :limit
`;

function statementsIn(schema: string) {
  return {
    insert: statement<{ readonly requests: string }>(`
      INSERT INTO ${schema}.logged_requests (
        id, partner, mode, key_id, created_at, duration_ms, method, route, status, code, sent, answered
      )
      SELECT id, partner, mode, "keyId", "createdAt", "durationMs", method, route, status, code, sent, answered
      FROM json_to_recordset(:requests::json) AS request (
        id text, partner text, mode text, "keyId" text, "createdAt" bigint, "durationMs" bigint, method text, route text,
        status integer, code text, sent text, answered text
      )
      ORDER BY id
      ON CONFLICT (id) DO NOTHING
    `),

    trim: statement<Owner & { readonly most: number }>(`
      DELETE FROM ${schema}.logged_requests
      WHERE partner = :partner AND mode = :mode AND (created_at, id) <= (
        SELECT created_at, id FROM ${schema}.logged_requests
        WHERE partner = :partner AND mode = :mode
        ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET :most
      )
    `),

    list: statement<Page, LoggedRequest>(pageOf(schema, '<', 'DESC')),
    back: statement<Page, LoggedRequest>(pageOf(schema, '>', 'ASC')),

    // The order makes PostgreSQL walk along an index, and not read the table.
    count: statement<Choice, { readonly count: number }>(`
      SELECT count(*) AS count FROM (
        SELECT FROM ${schema}.logged_requests WHERE ${chosen} ORDER BY created_at DESC LIMIT :limit
      ) AS counted
    `),

    find: statement<Owner & { readonly id: string }, LoggedRequest>(`
      SELECT ${columns} FROM ${schema}.logged_requests
      WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: statement<{ id: string }, LoggedRequest>(`
      SELECT ${columns} FROM ${schema}.logged_requests WHERE id = :id
    `),

    removeOldest: statement<Owner & Quota & { readonly limit: number }>(`
      DELETE FROM ${schema}.logged_requests WHERE id = ANY (ARRAY (
        SELECT id FROM ${schema}.logged_requests WHERE id IN (
          SELECT id FROM (
            SELECT id, created_at, row_number() OVER newest AS rows,
              sum(coalesce(octet_length(sent), 0) + coalesce(octet_length(answered), 0)) OVER newest AS bytes
            FROM ${schema}.logged_requests WHERE partner = :partner AND mode = :mode
            WINDOW newest AS (ORDER BY created_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
          ) AS counted
          WHERE rows > :rows OR bytes > :bytes
          ORDER BY created_at, id LIMIT :limit
        )
        FOR UPDATE SKIP LOCKED
      ))
    `),

    purge: statement<{ readonly before: number; readonly limit: number }>(`
      DELETE FROM ${schema}.logged_requests WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM ${schema}.logged_requests
        WHERE created_at < :before ORDER BY created_at LIMIT :limit FOR UPDATE SKIP LOCKED
      ))
    `),
  };
}

export function postgresRequestLog(database: Database): RequestLog {
  const sql = statementsIn(database.schema);

  return {
    async append(requests, most) {
      const rows = JSON.stringify(requests);
      const owners = new Map(requests.map(({ partner, mode }) => [`${mode} ${partner}`, { partner, mode }]));
      await database.write(async (connection) => {
        await sql.insert.run(connection, { requests: rows });
        for (const owner of owners.values()) await sql.trim.run(connection, { ...owner, most });
      });
    },

    list({ partner, mode, failed, until = null, oldestFirst = false, after, limit }) {
      const start = startOf({ oldestFirst, after }, until);
      const latest = oldestFirst ? (until ?? Number.MAX_SAFE_INTEGER) : start.time;
      const page = { partner, mode, failed, until: latest, ...start, limit };
      return database.all(oldestFirst ? sql.back : sql.list, page);
    },

    async count({ partner, mode, failed, until = null }, limit) {
      const choice = { partner, mode, failed, until: until ?? Number.MAX_SAFE_INTEGER, limit };
      return (await database.get(sql.count, choice))?.count ?? 0;
    },

    find: ({ partner, mode }, id) => database.get(sql.find, { partner, mode, id }),

    findById: (id) => database.get(sql.findById, { id }),

    purge: (before, limit) =>
      database.change((connection) => sql.purge.run(connection, { before, limit }), longTimeoutMs),

    removeOldest: ({ partner, mode, rows, bytes, limit }) =>
      database.change(
        (connection) => sql.removeOldest.run(connection, { partner, mode, rows, bytes, limit }),
        longTimeoutMs,
      ),
  };
}
