import type { InboxRequest, InboxStore, Owner, Quota } from '@ostiary/core/storage';
import type { Database } from './database.ts';

type InboxRow = Omit<InboxRequest, 'headers' | 'answer'> & {
  readonly headers: string;
  readonly answer: string | null;
};
type OwnedId = Owner & { readonly id: string };
type Page = Owner & { readonly endpointId: string; readonly limit: number };

const columns = `
  id, partner, mode, endpoint_id AS endpointId, received_at AS receivedAt, headers, body,
  signature_error AS signatureError, answer
`;

/** SQL that selects the oldest requests of an inbox that a program may take. */
const waiting = `
  SELECT id FROM inbox_requests
  WHERE endpoint_id = :endpointId AND partner = :partner AND mode = :mode AND received_at >= :since
    AND taken = 0 AND answer IS NULL
  ORDER BY received_at, id LIMIT :limit
`;

export function sqliteInbox(database: Database): InboxStore {
  const sql = database.prepare((connection) => ({
    insert: connection.prepare<[InboxRow]>(`
      INSERT INTO inbox_requests (
        id, partner, mode, endpoint_id, received_at, headers, body, signature_error, answer
      )
      VALUES (:id, :partner, :mode, :endpointId, :receivedAt, :headers, :body, :signatureError, :answer)
    `),

    trim: connection.prepare<[{ readonly endpointId: string; readonly most: number }]>(`
      DELETE FROM inbox_requests WHERE endpoint_id = :endpointId AND (received_at, id) <= (
        SELECT received_at, id FROM inbox_requests WHERE endpoint_id = :endpointId
        ORDER BY received_at DESC, id DESC LIMIT 1 OFFSET :most
      )
    `),

    find: connection.prepare<[OwnedId], InboxRow>(`
      SELECT ${columns} FROM inbox_requests WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    list: connection.prepare<[Page], InboxRow>(`
      SELECT ${columns} FROM inbox_requests
      WHERE endpoint_id = :endpointId AND partner = :partner AND mode = :mode
      ORDER BY received_at DESC, id DESC LIMIT :limit
    `),

    waiting: connection.prepare<[Page & { readonly since: number }], { readonly id: string }>(waiting),

    take: connection.prepare<[Page & { readonly since: number }], InboxRow>(`
      UPDATE inbox_requests SET taken = 1 WHERE id IN (${waiting}) RETURNING ${columns}
    `),

    answer: connection.prepare<[OwnedId & { readonly answer: string }]>(`
      UPDATE inbox_requests SET answer = :answer
      WHERE id = :id AND partner = :partner AND mode = :mode AND taken = 1 AND answer IS NULL
    `),

    end: connection.prepare<[OwnedId & { readonly answer: string }]>(`
      UPDATE inbox_requests SET answer = :answer
      WHERE id = :id AND partner = :partner AND mode = :mode AND answer IS NULL
    `),

    removeOldest: connection.prepare<[Owner & Quota & { readonly before: number; readonly limit: number }]>(`
      DELETE FROM inbox_requests WHERE id IN (
        SELECT id FROM (
          SELECT id, received_at, row_number() OVER newest AS rows,
            sum(octet_length(headers) + octet_length(body)) OVER newest AS bytes
          FROM inbox_requests WHERE partner = :partner AND mode = :mode
          WINDOW newest AS (ORDER BY received_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
        )
        WHERE rows > :rows OR bytes > :bytes OR received_at < :before
        ORDER BY received_at, id LIMIT :limit
      )
    `),
  }));

  return {
    async add(request, most) {
      const { endpointId } = request;
      const row = rowOf(request);
      await database.write(() => {
        sql().insert.run(row);
        sql().trim.run({ endpointId, most });
      });
    },

    find: ({ partner, mode }, id) => database.find(() => sql().find.get({ partner, mode, id }), requestOf),

    list: ({ partner, mode, endpointId, limit }) =>
      database.read(() => sql().list.all({ partner, mode, endpointId, limit }).map(requestOf)),

    async take({ partner, mode, endpointId, since, limit }) {
      const page = { partner, mode, endpointId, since, limit };
      // Listeners ask several times a second, and mostly find nothing, which needs no write.
      if ((await database.read(() => sql().waiting.get(page))) === undefined) return [];
      const taken = await database.write(() => sql().take.all(page));
      return taken.map(requestOf).sort(byArrival);
    },

    async answer({ partner, mode }, id, answer) {
      const text = JSON.stringify(answer);
      return database.write(() => sql().answer.run({ partner, mode, id, answer: text }).changes > 0);
    },

    async end({ partner, mode }, id, result) {
      const text = JSON.stringify(result);
      return database.write(() => sql().end.run({ partner, mode, id, answer: text }).changes > 0);
    },

    removeOldest: ({ partner, mode, rows, bytes, before, limit }) =>
      database.write(() => sql().removeOldest.run({ partner, mode, rows, bytes, before, limit }).changes),
  };
}

/** Sorts inbox requests by the time of their arrival, then by id, because `RETURNING` has no order. */
const byArrival = (one: InboxRequest, other: InboxRequest): number =>
  one.receivedAt - other.receivedAt || (one.id < other.id ? -1 : 1);

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
