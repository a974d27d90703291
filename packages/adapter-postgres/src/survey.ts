import type { DroppedEndpoint, FailingEndpoint, Storage, SurveyRequest } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

interface Row {
  readonly jobs: number;
  readonly oldestJob: number | null;
  readonly deliveries: number;
  readonly oldestDelivery: number | null;
  readonly failingJobs: number;
  readonly droppedEndpoints: string;
  readonly failing: number;
  readonly failingEndpoints: string;
  readonly sealedOtherwise: number;
}

/**
 * Creates the function that counts waiting and failed work, and secrets that another key encrypts, in one
 * statement that stops counting at the limit.
 */
export function postgresSurvey(database: Database): Storage['survey'] {
  const { schema } = database;
  const count = (from: string) => `(SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT :limit) AS counted)`;
  const sealed = (table: string, column: string) =>
    `SELECT 1 FROM ${schema}.${table} WHERE NOT starts_with(${column}, :sealedWith)`;
  // Pending deliveries that were never claimed have no ready_at: they can be claimed when they are due.
  const survey = statement<SurveyRequest, Row>(`
    WITH due_jobs AS (
      SELECT due_at FROM ${schema}.jobs
      WHERE due_at <= :now AND (lease_ends_at IS NULL OR lease_ends_at <= :now) LIMIT :limit
    ), due_deliveries AS (
      SELECT due_at FROM ${schema}.pending_deliveries WHERE coalesce(ready_at, due_at) <= :now LIMIT :limit
    ), failing AS (
      SELECT endpoint.partner, endpoint.mode, endpoint.id, url, since, at, http_status, error
      FROM ${schema}.endpoint_failures AS failure
      JOIN ${schema}.webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
      WHERE since IS NOT NULL AND (at >= :droppedSince OR (
        SELECT true FROM ${schema}.deliveries
        WHERE deliveries.endpoint_id = failure.endpoint_id AND failed_as = 'failing' LIMIT 1
      ))
    ), shown AS (
      SELECT * FROM failing ORDER BY since, id LIMIT :shown
    )
    SELECT
      (SELECT count(*) FROM due_jobs) AS jobs, (SELECT min(due_at) FROM due_jobs) AS "oldestJob",
      (SELECT count(*) FROM due_deliveries) AS deliveries,
      (SELECT min(due_at) FROM due_deliveries) AS "oldestDelivery",
      ${count(`${schema}.jobs WHERE last_error IS NOT NULL`)} AS "failingJobs",
      (SELECT coalesce(json_agg(json_build_object(
        'partner', partner, 'mode', mode, 'endpointId', id, 'url', url, 'count', count
      ) ORDER BY count DESC, id), '[]')::text FROM (
        SELECT endpoint.partner, endpoint.mode, endpoint.id, url, count(*) AS count
        FROM (
          SELECT endpoint_id FROM ${schema}.deliveries WHERE dropped_at >= :droppedSince LIMIT :limit
        ) AS given_up JOIN ${schema}.webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
        GROUP BY endpoint.id
      ) AS counted) AS "droppedEndpoints",
      ${count('failing')} AS failing,
      (SELECT coalesce(json_agg(json_build_object(
        'partner', partner, 'mode', mode, 'endpointId', id, 'url', url, 'count', (
          SELECT count(*) FROM (
            SELECT FROM ${schema}.deliveries
            WHERE endpoint_id = shown.id AND failed_as = 'failing' LIMIT :limit
          ) AS counted
        ),
        'since', since, 'lastAttempt', json_build_object('at', at, 'httpStatus', http_status, 'error', error)
      ) ORDER BY since, id), '[]')::text FROM shown) AS "failingEndpoints",
      ${count(`(
        ${sealed('signing_keys', 'sealed_private_jwk')} AND sealed_private_jwk <> ''
        UNION ALL ${sealed('api_keys', 'sealed_signing_secret')}
          AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
        UNION ALL ${sealed('webhook_endpoints', 'sealed_secret')}
      ) AS secrets`)} AS "sealedOtherwise"
  `);

  return async (request) => {
    const row = await database.read((connection) => survey.get(connection, request));
    if (row === undefined) throw new TypeError('a survey is one row');
    const { jobs, oldestJob, deliveries, oldestDelivery, droppedEndpoints, failingEndpoints, ...counts } =
      row;
    const dropped: readonly DroppedEndpoint[] = JSON.parse(droppedEndpoints);
    const failing: readonly FailingEndpoint[] = JSON.parse(failingEndpoints);
    return {
      jobs: { count: jobs, oldestDueAt: oldestJob },
      deliveries: { count: deliveries, oldestDueAt: oldestDelivery },
      droppedEndpoints: dropped,
      failingEndpoints: failing,
      ...counts,
    };
  };
}
