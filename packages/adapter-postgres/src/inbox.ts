import type { InboxRequest, InboxStore, Owner, Quota } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';
import { longTimeoutMs } from './timeouts.ts';

type InboxRow = Omit<InboxRequest, 'headers' | 'answer'> & {
  readonly headers: string;
  readonly answer: string | null;
};
type OwnedId = Owner & { readonly id: string };
type Page = Owner & { readonly endpointId: string; readonly limit: number };

function statementsIn(schema: string) {
  const columns = `
    id, partner, mode, endpoint_id AS "endpointId", received_at AS "receivedAt", headers, body,
    signature_error AS "signatureError", answer
  `;
  return {
    insert: statement<InboxRow>(`
      INSERT INTO ${schema}.inbox_requests (
        id, partner, mode, endpoint_id, received_at, headers, body, signature_error, answer
      )
      VALUES (:id, :partner, :mode, :endpointId, :receivedAt, :headers, :body, :signatureError, :answer)
    `),

    trim: statement<{ readonly endpointId: string; readonly most: number }>(`
      DELETE FROM ${schema}.inbox_requests WHERE endpoint_id = :endpointId AND (received_at, id) <= (
        SELECT received_at, id FROM ${schema}.inbox_requests WHERE endpoint_id = :endpointId
        ORDER BY received_at DESC, id DESC LIMIT 1 OFFSET :most
      )
    `),

    find: statement<OwnedId, InboxRow>(`
      SELECT ${columns} FROM ${schema}.inbox_requests WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    list: statement<Page, InboxRow>(`
      SELECT ${columns} FROM ${schema}.inbox_requests
      WHERE endpoint_id = :endpointId AND partner = :partner AND mode = :mode
      ORDER BY received_at DESC, id DESC LIMIT :limit
    `),

    take: statement<Page & { readonly since: number }, InboxRow>(`
      WITH taken AS (
        UPDATE ${schema}.inbox_requests SET taken = true WHERE id = ANY (ARRAY (
          SELECT id FROM ${schema}.inbox_requests
          WHERE endpoint_id = :endpointId AND partner = :partner AND mode = :mode AND received_at >= :since
            AND NOT taken AND answer IS NULL
          ORDER BY received_at, id LIMIT :limit FOR UPDATE SKIP LOCKED
        ))
        RETURNING *
      )
      SELECT ${columns} FROM taken ORDER BY received_at, id
    `),

    answer: statement<OwnedId & { readonly answer: string }>(`
      UPDATE ${schema}.inbox_requests SET answer = :answer
      WHERE id = :id AND partner = :partner AND mode = :mode AND taken AND answer IS NULL
    `),

    end: statement<OwnedId & { readonly answer: string }>(`
      UPDATE ${schema}.inbox_requests SET answer = :answer
      WHERE id = :id AND partner = :partner AND mode = :mode AND answer IS NULL
    `),

    removeOldest: statement<Owner & Quota & { readonly before: number; readonly limit: number }>(`
      DELETE FROM ${schema}.inbox_requests WHERE id = ANY (ARRAY (
        SELECT id FROM ${schema}.inbox_requests WHERE id IN (
          SELECT id FROM (
            SELECT id, received_at, row_number() OVER newest AS rows,
              sum(octet_length(headers) + octet_length(body)) OVER newest AS bytes
            FROM ${schema}.inbox_requests WHERE partner = :partner AND mode = :mode
            WINDOW newest AS (ORDER BY received_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
          ) AS counted
          WHERE rows > :rows OR bytes > :bytes OR received_at < :before
          ORDER BY received_at, id LIMIT :limit
        )
        FOR UPDATE SKIP LOCKED
      ))
    `),
  };
}

export function postgresInbox(database: Database): InboxStore {
  const sql = statementsIn(database.schema);

  return {
    async add(request, most) {
      const { endpointId } = request;
      const row = rowOf(request);
      await database.write(async (connection) => {
        await sql.insert.run(connection, row);
        await sql.trim.run(connection, { endpointId, most });
      });
    },

    async find({ partner, mode }, id) {
      const row = await database.get(sql.find, { partner, mode, id });
      return row === null ? null : requestOf(row);
    },

    list: async ({ partner, mode, endpointId, limit }) =>
      (await database.all(sql.list, { partner, mode, endpointId, limit })).map(requestOf),

    async take({ partner, mode, endpointId, since, limit }) {
      const page = { partner, mode, endpointId, since, limit };
      return (await database.change((connection) => sql.take.all(connection, page))).map(requestOf);
    },

    answer: ({ partner, mode }, id, answer) =>
      database.changes(sql.answer, { partner, mode, id, answer: JSON.stringify(answer) }),

    end: ({ partner, mode }, id, result) =>
      database.changes(sql.end, { partner, mode, id, answer: JSON.stringify(result) }),

    removeOldest: ({ partner, mode, rows, bytes, before, limit }) =>
      database.change(
        (connection) => sql.removeOldest.run(connection, { partner, mode, rows, bytes, before, limit }),
        longTimeoutMs,
      ),
  };
}

function rowOf(request: InboxRequest): InboxRow {
  const { headers, answer } = request;
  return {
    ...request,
    headers: JSON.stringify(headers),
    answer: answer === null ? null : JSON.stringify(answer),
  };
}

function requestOf(row: InboxRow): InboxRequest {
  const { headers, answer } = row;
  return { ...row, headers: JSON.parse(headers), answer: answer === null ? null : JSON.parse(answer) };
}
