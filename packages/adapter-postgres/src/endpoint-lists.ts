import type {
  EndpointFilter,
  FailingEndpoint,
  FailingFilter,
  ListPosition,
  WebhookEndpointRecord,
  WebhookEndpointStore,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { postgresSortedLists } from './sorted-lists.ts';
import { statement } from './statement.ts';
import { startOf } from './timed-pages.ts';

type FailingRow = Omit<FailingEndpoint, 'lastAttempt'> & FailingEndpoint['lastAttempt'];
type FailingPage = FailingFilter & ListPosition & { readonly countTo: number; readonly limit: number };

/**
 * Creates the functions that list and count the endpoints of all partners. PostgreSQL plans each statement
 * with the actual parameters, so that a filter of `null` costs nothing.
 */
export function postgresEndpointLists(
  database: Database,
  columns: string,
): Pick<WebhookEndpointStore, 'sorted' | 'count' | 'failing' | 'countFailing'> {
  const { schema } = database;
  const ofPartner = 'mode = :mode AND (:partner::text IS NULL OR partner = :partner)';
  const sorted = postgresSortedLists<WebhookEndpointRecord, EndpointFilter>(database, {
    ...{ columns, table: 'webhook_endpoints', id: 'id', name: 'url' },
    where: `${ofPartner} AND (:enabled::boolean IS NULL OR enabled = :enabled)`,
  });
  const failingFrom = `
    ${schema}.endpoint_failures AS failure
    JOIN ${schema}.webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
    WHERE since IS NOT NULL AND ${ofPartner} AND (at >= :failedSince OR (
      SELECT true FROM ${schema}.deliveries
      WHERE deliveries.endpoint_id = failure.endpoint_id AND failed_as = 'failing' LIMIT 1
    ))
  `;
  const failing = (comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    statement<FailingPage, FailingRow>(`
      SELECT
        partner, mode, id AS "endpointId", url, since, at, http_status AS "httpStatus", error,
        (
          SELECT count(*) FROM (
            SELECT FROM ${schema}.deliveries
            WHERE deliveries.endpoint_id = shown.id AND failed_as = 'failing' LIMIT :countTo
          ) AS counted
        ) AS count
      FROM (
        SELECT endpoint.partner, endpoint.mode, endpoint.id, url, since, at, http_status, error
        FROM ${failingFrom} AND (since, endpoint_id) ${comparison} (:time, :id)
        ORDER BY since ${order}, endpoint_id ${order} LIMIT :limit
      ) AS shown
      ORDER BY since ${order}, id ${order}
    `);
  const lists = { newest: failing('<', 'DESC'), oldest: failing('>', 'ASC') };
  const countFailing = statement<FailingFilter & { readonly limit: number }, { readonly count: number }>(
    `SELECT count(*) AS count FROM (SELECT FROM ${failingFrom} LIMIT :limit) AS counted`,
  );

  return {
    sorted: ({ by, descending, after, limit, mode, partner, enabled }) =>
      sorted.page({ by, descending, after, limit }, { mode, partner, enabled }),

    count: ({ mode, partner, enabled }, limit) => sorted.count(limit, { mode, partner, enabled }),

    async failing({ mode, partner, failedSince, countTo, oldestFirst, after, limit }) {
      const page = { mode, partner, failedSince, countTo, ...startOf({ oldestFirst, after }, null), limit };
      return (await database.all(lists[oldestFirst ? 'oldest' : 'newest'], page)).map(failingOf);
    },

    countFailing: async ({ mode, partner, failedSince }, limit) =>
      (await database.get(countFailing, { mode, partner, failedSince, limit }))?.count ?? 0,
  };
}

function failingOf({ at, httpStatus, error, ...endpoint }: FailingRow): FailingEndpoint {
  return { ...endpoint, lastAttempt: { at, httpStatus, error } };
}
