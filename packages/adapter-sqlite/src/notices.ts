import type {
  DueNotices,
  EndingKey,
  NoticedEndpoint,
  NoticeReason,
  NoticeStore,
} from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { jobRowOf, jobsOn } from './queue.ts';

type Request = Parameters<NoticeStore['due']>[0];
type EndpointRow = Omit<NoticedEndpoint, 'lastFailure'> & NoticedEndpoint['lastFailure'];

function statementsOn(connection: Connection) {
  /**
   * Prepares the search for endpoints of enabled partners that have failed and meet a condition, without
   * inboxes, which fail on purpose. Few endpoints fail, so the search is cheap.
   */
  const endpoints = (condition: string) =>
    connection.prepare<[Request], EndpointRow>(`
      SELECT
        endpoint.partner AS partner, mode, partners.name AS partnerName, endpoint_id AS endpointId, url, since, at,
        http_status AS httpStatus, error
      FROM endpoint_failures AS failure
      CROSS JOIN webhook_endpoints AS endpoint ON endpoint.id = endpoint_id
      CROSS JOIN partners ON slug = endpoint.partner
      WHERE disabled_at IS NULL AND url NOT LIKE 'inbox:%' AND ${condition} LIMIT :limit
    `);
  const mark = (table: string, id: string, changes: string, condition: string) =>
    connection.prepare<[{ id: string; now: number }]>(
      `UPDATE ${table} SET ${changes} WHERE ${id} = :id AND ${condition}`,
    );
  const markEndpoint = (changes: string, condition: string) =>
    mark('endpoint_failures', 'endpoint_id', changes, condition);
  const noticed = '(failing_noticed_at IS NOT NULL OR given_up_noticed_at IS NOT NULL)';

  return {
    due: {
      failing: endpoints('since <= :failingSince AND at >= :recentSince AND failing_noticed_at IS NULL'),
      givenUp: endpoints(`
        given_up_noticed_at IS NULL AND EXISTS (
          SELECT 1 FROM deliveries
          WHERE deliveries.endpoint_id = failure.endpoint_id AND status = 'dropped' AND ended_at > max(
            :recentSince, coalesce(works_noticed_at, 0), endpoint.updated_at, partners.updated_at
          )
        )
      `),
      works: endpoints(`since IS NULL AND at <= :quietSince AND ${noticed}`),
      endingKeys: connection.prepare<[Request], EndingKey>(`
        SELECT partner, mode, partners.name AS partnerName, api_keys.id AS keyId, api_keys.name AS name,
          expires_at AS expiresAt
        FROM api_keys CROSS JOIN partners ON slug = partner
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

export function sqliteNotices(database: Database): NoticeStore {
  const storeJob = database.prepare(jobsOn);
  const sql = database.prepare(statementsOn);

  return {
    due: (request) =>
      database.read((): DueNotices => {
        const { failing, givenUp, works, endingKeys } = sql().due;
        return {
          failing: failing.all(request).map(endpointOf),
          givenUp: givenUp.all(request).map(endpointOf),
          works: works.all(request).map(endpointOf),
          endingKeys: endingKeys.all(request),
        };
      }),

    record(reason: NoticeReason, id, now, job) {
      const row = jobRowOf(job);
      return database.write(() => {
        const isNew = sql().mark[reason].run({ id, now }).changes === 1;
        if (isNew) storeJob()(row);
        return isNew;
      });
    },
  };
}
