import type { DroppedEndpoint, FailingEndpoint, Storage, SurveyRequest } from '@ostiary/core/storage';
import type { Database } from './database.ts';

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
export function sqliteSurvey(database: Database): Storage['survey'] {
  const sql = database.prepare((connection) => {
    const count = (from: string) => `(SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT :limit))`;
    const sealed = (table: string, column: string) =>
      `SELECT 1 FROM ${table} WHERE substr(${column}, 1, length(:sealedWith)) <> :sealedWith`;
    return connection.prepare<[SurveyRequest], Row>(`
      WITH due_jobs AS (
        SELECT due_at FROM jobs
        WHERE due_at <= :now AND (lease_ends_at IS NULL OR lease_ends_at <= :now) LIMIT :limit
      ), due_deliveries AS (
        SELECT due_at FROM deliveries WHERE status = 'pending' AND ready_at <= :now LIMIT :limit
      ), failing AS (
        SELECT endpoint.partner, endpoint.mode, endpoint.id, url, since, at, http_status, error
        FROM endpoint_failures AS failure CROSS JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
        WHERE since IS NOT NULL AND (at >= :droppedSince OR EXISTS (
          SELECT 1 FROM deliveries INDEXED BY deliveries_failed_by_endpoint
          WHERE deliveries.endpoint_id = failure.endpoint_id AND failed_as = 'failing'
        ))
      )
      SELECT
        (SELECT count(*) FROM due_jobs) AS jobs, (SELECT min(due_at) FROM due_jobs) AS oldestJob,
        (SELECT count(*) FROM due_deliveries) AS deliveries,
        (SELECT min(due_at) FROM due_deliveries) AS oldestDelivery,
        ${count('jobs WHERE last_error IS NOT NULL')} AS failingJobs,
        (SELECT json_group_array(json_object(
          'partner', partner, 'mode', mode, 'endpointId', id, 'url', url, 'count', count
        )) FROM (
          SELECT endpoint.partner, endpoint.mode, endpoint.id, url, count(*) AS count
          FROM (
            SELECT endpoint_id FROM deliveries
            WHERE status = 'dropped' AND ended_at >= :droppedSince LIMIT :limit
          ) AS given_up JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
          GROUP BY endpoint.id ORDER BY count DESC, endpoint.id
        )) AS droppedEndpoints,
        ${count('failing')} AS failing,
        (SELECT json_group_array(json_object(
          'partner', partner, 'mode', mode, 'endpointId', id, 'url', url, 'count', (
            SELECT count(*) FROM (
              SELECT 1 FROM deliveries INDEXED BY deliveries_failed_by_endpoint
              WHERE endpoint_id = shown.id AND failed_as = 'failing' LIMIT :limit
            )
          ),
          'since', since, 'lastAttempt', json_object('at', at, 'httpStatus', http_status, 'error', error)
        )) FROM (SELECT * FROM failing ORDER BY since, id LIMIT :shown) AS shown) AS failingEndpoints,
        ${count(`(
          ${sealed('signing_keys', 'sealed_private_jwk')} AND sealed_private_jwk <> ''
          UNION ALL ${sealed('api_keys', 'sealed_signing_secret')}
            AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
          UNION ALL ${sealed('webhook_endpoints', 'sealed_secret')}
        )`)} AS sealedOtherwise
    `);
  });

  return async (request) => {
    const row = await database.read(() => sql().get(request));
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
