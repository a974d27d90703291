import type {
  EndpointFilter,
  FailingEndpoint,
  FailingFilter,
  ListPosition,
  WebhookEndpointRecord,
  WebhookEndpointStore,
} from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { sortedListsOn } from './sorted-lists.ts';
import { startOf } from './timed-pages.ts';

/** A webhook endpoint as SQLite stores it. */
export type EndpointRow = Omit<WebhookEndpointRecord, 'events' | 'enabled'> & {
  readonly events: string;
  readonly enabled: 0 | 1;
};

export const endpointColumns = `
  id, partner, mode, url, events, enabled, sealed_secret AS sealedSecret, created_at AS createdAt,
  updated_at AS updatedAt, version
`;

export function endpointOf(row: EndpointRow): WebhookEndpointRecord {
  return { ...row, events: JSON.parse(row.events), enabled: row.enabled === 1 };
}

type FailingRow = Omit<FailingEndpoint, 'lastAttempt'> & FailingEndpoint['lastAttempt'];
type FailingPage = FailingFilter & ListPosition & { readonly countTo: number; readonly limit: number };
type FilterRow = Omit<EndpointFilter, 'enabled'> & { readonly enabled: 0 | 1 | null };

const ofPartner = 'mode = :mode AND (:partner IS NULL OR partner = :partner)';

const failingFrom = `
  endpoint_failures AS failure CROSS JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
  WHERE since IS NOT NULL AND ${ofPartner} AND (at >= :failedSince OR EXISTS (
    SELECT 1 FROM deliveries INDEXED BY deliveries_failed_by_endpoint
    WHERE deliveries.endpoint_id = failure.endpoint_id AND failed_as = 'failing'
  ))
`;

function statementsOn(connection: Connection) {
  const failing = (comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    connection.prepare<[FailingPage], FailingRow>(`
      SELECT
        endpoint.partner, endpoint.mode, endpoint.id AS endpointId, url, since, at, http_status AS httpStatus, error,
        (
          SELECT count(*) FROM (
            SELECT 1 FROM deliveries INDEXED BY deliveries_failed_by_endpoint
            WHERE deliveries.endpoint_id = failure.endpoint_id AND failed_as = 'failing' LIMIT :countTo
          )
        ) AS count
      FROM ${failingFrom} AND (since, endpoint_id) ${comparison} (:time, :id)
      ORDER BY since ${order}, endpoint_id ${order} LIMIT :limit
    `);
  return {
    sorted: sortedListsOn<EndpointRow, FilterRow>(connection, {
      ...{ columns: endpointColumns, table: 'webhook_endpoints', id: 'id', name: 'url' },
      where: `${ofPartner} AND (:enabled IS NULL OR enabled = :enabled)`,
    }),
    failing: failing('<', 'DESC'),
    failingOldest: failing('>', 'ASC'),
    countFailing: connection.prepare<[FailingFilter & { readonly limit: number }], { count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM ${failingFrom} LIMIT :limit)`,
    ),
  };
}

/** Creates the functions that list and count the endpoints of all partners. */
export function sqliteEndpointLists(
  database: Database,
): Pick<WebhookEndpointStore, 'sorted' | 'count' | 'failing' | 'countFailing'> {
  const sql = database.prepare(statementsOn);
  const filterOf = ({ mode, partner, enabled }: EndpointFilter): FilterRow => ({
    ...{ mode, partner },
    enabled: enabled === null ? null : enabled ? 1 : 0,
  });

  return {
    sorted: ({ by, descending, after, limit, ...filter }) =>
      database.read(() => {
        const rows = sql().sorted.page({ by, descending, after, limit }, filterOf(filter));
        return rows.map(endpointOf);
      }),

    count: (filter, limit) => database.read(() => sql().sorted.count(limit, filterOf(filter))),

    failing: ({ mode, partner, failedSince, countTo, oldestFirst, after, limit }) =>
      database.read(() => {
        const page = { mode, partner, failedSince, countTo, ...startOf({ oldestFirst, after }, null), limit };
        return sql()[oldestFirst ? 'failingOldest' : 'failing'].all(page).map(failingOf);
      }),

    countFailing: ({ mode, partner, failedSince }, limit) =>
      database.read(() => sql().countFailing.get({ mode, partner, failedSince, limit })?.count ?? 0),
  };
}

function failingOf({ at, httpStatus, error, ...endpoint }: FailingRow): FailingEndpoint {
  return { ...endpoint, lastAttempt: { at, httpStatus, error } };
}
