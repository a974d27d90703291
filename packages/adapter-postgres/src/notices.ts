import type { EndingKey, NoticedEndpoint, NoticeStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { jobRowOf, postgresJobs } from './queue.ts';
import { statement } from './statement.ts';

type Request = Parameters<NoticeStore['due']>[0];
type EndpointRow = Omit<NoticedEndpoint, 'lastFailure'> & NoticedEndpoint['lastFailure'];

function statementsIn(schema: string) {
  /**
   * Creates the search for endpoints of enabled partners that have failed and meet a condition, without
   * inboxes, which fail on purpose. Few endpoints fail, so the search is cheap.
   */
  const endpoints = (condition: string) =>
    statement<Request, EndpointRow>(`
      SELECT
        endpoint.partner, endpoint.mode, partners.name AS "partnerName", endpoint_id AS "endpointId", url, since, at,
        http_status AS "httpStatus", error
      FROM ${schema}.endpoint_failures AS failure
      JOIN ${schema}.webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
      JOIN ${schema}.partners ON slug = endpoint.partner
      WHERE disabled_at IS NULL AND url NOT LIKE 'inbox:%' AND ${condition} LIMIT :limit
    `);
  const mark = (table: string, id: string, changes: string, condition: string) =>
    statement<{ id: string; now: number }>(
      `UPDATE ${schema}.${table} SET ${changes} WHERE ${id} = :id AND ${condition}`,
    );
  const markEndpoint = (changes: string, condition: string) =>
    mark('endpoint_failures', 'endpoint_id', changes, condition);
  const noticed = '(failing_noticed_at IS NOT NULL OR given_up_noticed_at IS NOT NULL)';

  return {
    due: {
      failing: endpoints('since <= :failingSince AND at >= :recentSince AND failing_noticed_at IS NULL'),
      givenUp: endpoints(`
        given_up_noticed_at IS NULL AND EXISTS (
          SELECT FROM ${schema}.deliveries
          WHERE deliveries.endpoint_id = failure.endpoint_id AND dropped_at > greatest(
            :recentSince, works_noticed_at, endpoint.updated_at, partners.updated_at
          )
        )
      `),
      works: endpoints(`since IS NULL AND at <= :quietSince AND ${noticed}`),
      endingKeys: statement<Request, EndingKey>(`
        SELECT partner, mode, partners.name AS "partnerName", api_keys.id AS "keyId", api_keys.name,
          expires_at AS "expiresAt"
        FROM ${schema}.api_keys JOIN ${schema}.partners ON slug = partner
        WHERE expires_at > :now AND expires_at <= :keysUntil AND revoked_at IS NULL AND end_noticed_at IS NULL
          AND disabled_at IS NULL
        LIMIT :limit
      `),
    },
    mark: {
      failing: markEndpoint('failing_noticed_at = :now', 'since IS NOT NULL AND failing_noticed_at IS NULL'),
      givenUp: markEndpoint('given_up_noticed_at = :now', 'given_up_noticed_at IS NULL'),
      works: markEndpoint(
        'failing_noticed_at = NULL, given_up_noticed_at = NULL, works_noticed_at = :now',
        `since IS NULL AND ${noticed}`,
      ),
      endingKeys: mark(
        'api_keys',
        'id',
        'end_noticed_at = :now',
        'end_noticed_at IS NULL AND revoked_at IS NULL',
      ),
    },
  };
}

function endpointOf({ at, httpStatus, error, ...endpoint }: EndpointRow): NoticedEndpoint {
  return { ...endpoint, lastFailure: { at, httpStatus, error } };
}

export function postgresNotices(database: Database): NoticeStore {
  const storeJobs = postgresJobs(database);
  const sql = statementsIn(database.schema);

  return {
    async due(request) {
      const { failing, givenUp, works, endingKeys } = sql.due;
      return {
        failing: (await database.all(failing, request)).map(endpointOf),
        givenUp: (await database.all(givenUp, request)).map(endpointOf),
        works: (await database.all(works, request)).map(endpointOf),
        endingKeys: await database.all(endingKeys, request),
      };
    },

    record(reason, id, now, job) {
      const row = jobRowOf(job);
      return database.write(async (connection) => {
        const isNew = (await sql.mark[reason].run(connection, { id, now })) === 1;
        if (isNew) await storeJobs(connection, [row]);
        return isNew;
      });
    },
  };
}
