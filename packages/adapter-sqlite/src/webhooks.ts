import type {
  EndpointCondition,
  EndpointCreation,
  Owner,
  WebhookEndpointRecord,
  WebhookEndpointStore,
} from '@ostiary/core/storage';
import { auditRowOf, sqliteAudits } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import {
  endpointColumns as columns,
  type EndpointRow,
  endpointOf,
  sqliteEndpointLists,
} from './endpoint-lists.ts';
import { sqliteClaims } from './idempotency.ts';
import { sqliteSealedSecrets } from './sealed-secrets.ts';

type OwnedId = Owner & { readonly id: string };
type ConditionRow = Omit<EndpointCondition, 'failure'> & {
  readonly since: number | null;
  readonly at: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
};

/**
 * Creates the check whether an endpoint can get deliveries. Returns the reason if it cannot, otherwise
 * `null`. An endpoint of another partner or mode counts as unknown.
 */
export function refusalOn(connection: Connection) {
  const find = connection.prepare<[OwnedId], Pick<EndpointRow, 'enabled'>>(`
    SELECT
      enabled AND NOT EXISTS (SELECT 1 FROM partners WHERE slug = :partner AND disabled_at IS NOT NULL) AS enabled
    FROM webhook_endpoints WHERE id = :id AND partner = :partner AND mode = :mode
  `);

  return (endpoint: OwnedId): { readonly outcome: 'unknown_endpoint' | 'disabled_endpoint' } | null => {
    const found = find.get(endpoint);
    if (found === undefined) return { outcome: 'unknown_endpoint' };
    return found.enabled === 1 ? null : { outcome: 'disabled_endpoint' };
  };
}

function statementsOn(connection: Connection) {
  return {
    count: connection.prepare<[Owner], { count: number }>(`
      SELECT count(*) AS count FROM webhook_endpoints WHERE partner = :partner AND mode = :mode
    `),

    insert: connection.prepare<[EndpointRow]>(`
      INSERT INTO webhook_endpoints (
        id, partner, mode, url, events, enabled, sealed_secret, created_at, updated_at, version
      )
      VALUES (
        :id, :partner, :mode, :url, :events, :enabled, :sealedSecret, :createdAt, :updatedAt, :version
      )
    `),

    find: connection.prepare<[OwnedId], EndpointRow>(`
      SELECT ${columns} FROM webhook_endpoints WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: connection.prepare<[string], EndpointRow>(`
      SELECT ${columns} FROM webhook_endpoints WHERE id = ?
    `),

    // Sorting is cheap: a partner has few endpoints.
    list: connection.prepare<[Owner], EndpointRow>(`
      SELECT ${columns} FROM webhook_endpoints WHERE partner = :partner AND mode = :mode
      ORDER BY created_at, id
    `),

    conditions: connection.prepare<[Owner & { readonly limit: number }], ConditionRow>(`
      SELECT
        endpoint.id AS endpointId, since, at, http_status AS httpStatus, error,
        (
          SELECT count(*) FROM (
            SELECT 1 FROM deliveries INDEXED BY deliveries_failed_by_endpoint
            WHERE endpoint_id = endpoint.id AND failed_as = 'failing' LIMIT :limit
          )
        ) AS failing,
        (
          SELECT min(ready_at) FROM deliveries WHERE status = 'pending' AND endpoint_id = endpoint.id
        ) AS nextAttemptAt,
        nullif(served_at, 0) AS servedAt
      FROM webhook_endpoints AS endpoint
        CROSS JOIN endpoint_queues ON endpoint_queues.endpoint_id = endpoint.id
        LEFT JOIN endpoint_failures AS failure ON failure.endpoint_id = endpoint.id
      WHERE partner = :partner AND mode = :mode
      ORDER BY endpoint.id
    `),

    replace: connection.prepare<[EndpointRow]>(`
      UPDATE webhook_endpoints SET
        url = :url, events = :events, enabled = :enabled, sealed_secret = :sealedSecret,
        created_at = :createdAt, updated_at = :updatedAt, version = :version
      WHERE id = :id AND partner = :partner AND mode = :mode AND version = :version - 1
    `),

    remove: connection.prepare<[OwnedId]>(`
      DELETE FROM webhook_endpoints WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    insertQueue: connection.prepare<[string]>('INSERT INTO endpoint_queues (endpoint_id) VALUES (?)'),

    removeQueue: connection.prepare<[string]>('DELETE FROM endpoint_queues WHERE endpoint_id = ?'),

    removeInbox: connection.prepare<[string]>('DELETE FROM inbox_requests WHERE endpoint_id = ?'),

    // A worker that has claimed one of these deliveries loses it: its result will be refused.
    cancel: connection.prepare<[{ endpointId: string; now: number }]>(`
      UPDATE deliveries SET status = 'cancelled', ended_at = :now
      WHERE endpoint_id = :endpointId AND status = 'pending'
    `),

    removeFailure: connection.prepare<[string]>('DELETE FROM endpoint_failures WHERE endpoint_id = ?'),
  };
}

export function sqliteWebhooks(database: Database): WebhookEndpointStore {
  const claims = sqliteClaims(database);
  const audits = sqliteAudits(database);
  const sql = database.prepare(statementsOn);

  function cancel(endpointId: string, now: number): void {
    sql().cancel.run({ endpointId, now });
    sql().removeFailure.run(endpointId);
  }

  return {
    async create({ endpoint, idempotency, max, now, audit }) {
      const row = rowOf(endpoint);
      const act = auditRowOf(audit);
      return claims.once<EndpointCreation>(idempotency, now, () => {
        const { partner, mode } = row;
        if ((sql().count.get({ partner, mode })?.count ?? 0) >= max) return { outcome: 'too_many' };
        sql().insert.run(row);
        sql().insertQueue.run(row.id);
        audits.store(act);
        return { outcome: 'created' };
      });
    },

    find: ({ partner, mode }, id) => database.find(() => sql().find.get({ partner, mode, id }), endpointOf),

    findById: (id) => database.find(() => sql().findById.get(id), endpointOf),

    list: ({ partner, mode }) => database.read(() => sql().list.all({ partner, mode }).map(endpointOf)),

    conditions: ({ partner, mode }, limit) =>
      database.read(() => sql().conditions.all({ partner, mode, limit }).map(conditionOf)),

    async replace(endpoint, now, audit) {
      const row = rowOf(endpoint);
      return audits.change(audit, () => {
        if (sql().replace.run(row).changes === 0) return false;
        if (row.enabled === 0) cancel(row.id, now);
        return true;
      });
    },

    async remove({ partner, mode }, id, now, audit) {
      return audits.change(audit, () => {
        if (sql().remove.run({ partner, mode, id }).changes === 0) return false;
        cancel(id, now);
        sql().removeQueue.run(id);
        sql().removeInbox.run(id);
        return true;
      });
    },

    ...sqliteEndpointLists(database),

    ...sqliteSealedSecrets(database, { table: 'webhook_endpoints', column: 'sealed_secret' }),
  };
}

function rowOf(endpoint: WebhookEndpointRecord): EndpointRow {
  return { ...endpoint, events: JSON.stringify(endpoint.events), enabled: endpoint.enabled ? 1 : 0 };
}

function conditionOf({ since, at, httpStatus, error, ...condition }: ConditionRow): EndpointCondition {
  const failure = since === null ? null : { since, lastAttempt: { at, httpStatus, error } };
  return { ...condition, failure };
}
