import type {
  EndpointCondition,
  EndpointCreation,
  Owner,
  WebhookEndpointRecord,
  WebhookEndpointStore,
} from '@ostiary/core/storage';
import { auditRowOf, postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { postgresEndpointLists } from './endpoint-lists.ts';
import { postgresEventOwners } from './event-owners.ts';
import { postgresClaims } from './idempotency.ts';
import { postgresSealedSecrets } from './sealed-secrets.ts';
import { type Connection, statement } from './statement.ts';
import { callTimeoutMs, longTimeoutMs } from './timeouts.ts';

type OwnedId = Owner & { readonly id: string };
type ConditionRow = Omit<EndpointCondition, 'failure'> & {
  readonly since: number | null;
  readonly at: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
};

/**
 * Creates the check whether an endpoint can get deliveries. Returns the reason if it cannot, otherwise
 * `null`. An endpoint of another partner or mode counts as unknown. Requires a transaction that has locked
 * the owner's events.
 */
export function postgresRefusals({ schema }: Pick<Database, 'schema'>) {
  const find = statement<OwnedId, { readonly enabled: boolean }>(`
    SELECT enabled AND NOT EXISTS (
      SELECT FROM ${schema}.partners WHERE slug = :partner AND disabled_at IS NOT NULL
    ) AS enabled
    FROM ${schema}.webhook_endpoints WHERE id = :id AND partner = :partner AND mode = :mode
  `);

  return async (
    connection: Connection,
    endpoint: OwnedId,
  ): Promise<{ readonly outcome: 'unknown_endpoint' | 'disabled_endpoint' } | null> => {
    const found = await find.get(connection, endpoint);
    if (found === undefined) return { outcome: 'unknown_endpoint' };
    return found.enabled ? null : { outcome: 'disabled_endpoint' };
  };
}

/**
 * Builds a statement that cancels deliveries. If a worker has claimed one of them, its result will be
 * refused. Locks deliveries by number, as `finish` does.
 */
export const cancelWhere = (schema: string, condition: string) => `
  WITH held AS MATERIALIZED (
    SELECT id FROM ${schema}.pending_deliveries WHERE ${condition} ORDER BY number FOR UPDATE
  ),
  gone AS (
    DELETE FROM ${schema}.pending_deliveries AS pending USING held WHERE pending.id = held.id
    RETURNING pending.number
  )
  UPDATE ${schema}.deliveries SET status = 'cancelled', ended_at = :now
  FROM gone WHERE deliveries.number = gone.number
`;

const columns = `
  id, partner, mode, url, events, enabled, sealed_secret AS "sealedSecret", created_at AS "createdAt",
  updated_at AS "updatedAt", version
`;

function statementsIn(schema: string) {
  return {
    count: statement<Owner, { readonly count: number }>(`
      SELECT count(*) AS count FROM ${schema}.webhook_endpoints WHERE partner = :partner AND mode = :mode
    `),

    insert: statement<WebhookEndpointRecord>(`
      INSERT INTO ${schema}.webhook_endpoints (
        id, partner, mode, url, events, enabled, sealed_secret, created_at, updated_at, version
      )
      VALUES (
        :id, :partner, :mode, :url, :events, :enabled, :sealedSecret, :createdAt, :updatedAt, :version
      )
    `),

    find: statement<OwnedId, WebhookEndpointRecord>(`
      SELECT ${columns} FROM ${schema}.webhook_endpoints
      WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: statement<{ id: string }, WebhookEndpointRecord>(`
      SELECT ${columns} FROM ${schema}.webhook_endpoints WHERE id = :id
    `),

    // Sorting is cheap: a partner has few endpoints.
    list: statement<Owner, WebhookEndpointRecord>(`
      SELECT ${columns} FROM ${schema}.webhook_endpoints WHERE partner = :partner AND mode = :mode
      ORDER BY created_at, id
    `),

    // A pending delivery that was never claimed has no ready_at: it can be claimed when it is due.
    conditions: statement<Owner & { readonly limit: number }, ConditionRow>(`
      SELECT
        endpoint.id AS "endpointId", since, at, http_status AS "httpStatus", error,
        (
          SELECT count(*) FROM (
            SELECT FROM ${schema}.deliveries
            WHERE endpoint_id = endpoint.id AND failed_as = 'failing' LIMIT :limit
          ) AS counted
        ) AS failing,
        least(
          (
            SELECT due_at FROM ${schema}.pending_deliveries AS pending
            WHERE pending.endpoint_id = endpoint.id AND number > claimed_to ORDER BY number LIMIT 1
          ),
          (
            SELECT ready_at FROM ${schema}.pending_deliveries AS pending
            WHERE pending.endpoint_id = endpoint.id AND ready_at IS NOT NULL ORDER BY ready_at LIMIT 1
          )
        ) AS "nextAttemptAt",
        nullif(served_at, 0) AS "servedAt"
      FROM ${schema}.webhook_endpoints AS endpoint
      JOIN ${schema}.endpoint_queues AS queue ON queue.endpoint_id = endpoint.id
      LEFT JOIN ${schema}.endpoint_failures AS failure ON failure.endpoint_id = endpoint.id
      WHERE endpoint.partner = :partner AND endpoint.mode = :mode
      ORDER BY endpoint.id
    `),

    replace: statement<WebhookEndpointRecord>(`
      UPDATE ${schema}.webhook_endpoints SET
        url = :url, events = :events, enabled = :enabled, sealed_secret = :sealedSecret,
        created_at = :createdAt, updated_at = :updatedAt, version = :version
      WHERE id = :id AND partner = :partner AND mode = :mode AND version = :version - 1
    `),

    remove: statement<OwnedId>(`
      DELETE FROM ${schema}.webhook_endpoints WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    insertQueue: statement<OwnedId>(`
      INSERT INTO ${schema}.endpoint_queues (endpoint_id, partner, mode) VALUES (:id, :partner, :mode)
    `),

    // From here on claims skip the endpoint. The next statement sees the result of the last claim.
    lockQueue: statement<OwnedId>(`
      SELECT FROM ${schema}.endpoint_queues WHERE endpoint_id = :id FOR UPDATE
    `),

    removeQueue: statement<OwnedId>(`
      DELETE FROM ${schema}.endpoint_queues WHERE endpoint_id = :id
    `),

    removeInbox: statement<OwnedId>(`
      DELETE FROM ${schema}.inbox_requests WHERE endpoint_id = :id
    `),

    cancel: statement<{ readonly endpointId: string; readonly now: number }>(
      cancelWhere(schema, 'endpoint_id = :endpointId'),
    ),

    // After the cancellation, which locks the pending deliveries: results are stored in this order too.
    removeFailure: statement<OwnedId>(`
      DELETE FROM ${schema}.endpoint_failures WHERE endpoint_id = :id
    `),
  };
}

export function postgresWebhooks(database: Database): WebhookEndpointStore {
  const audits = postgresAudits(database);
  const once = postgresClaims(database);
  const owners = postgresEventOwners(database);
  const sql = statementsIn(database.schema);

  async function cancel(connection: Connection, endpoint: OwnedId, now: number): Promise<void> {
    await sql.lockQueue.run(connection, endpoint);
    await sql.cancel.run(connection, { endpointId: endpoint.id, now });
    await sql.removeFailure.run(connection, endpoint);
  }

  return {
    async create({ endpoint, idempotency, max, now, audit }) {
      const row = rowOf(endpoint);
      const act = auditRowOf(audit);
      return once<EndpointCreation>(idempotency, now, async (connection) => {
        await owners.lock(connection, row);
        const count = (await sql.count.get(connection, row))?.count ?? 0;
        if (count >= max) return { outcome: 'too_many' };
        await sql.insert.run(connection, row);
        await sql.insertQueue.run(connection, row);
        await audits.store(connection, act);
        return { outcome: 'created' };
      });
    },

    find: ({ partner, mode }, id) => database.get(sql.find, { partner, mode, id }),

    findById: (id) => database.get(sql.findById, { id }),

    list: ({ partner, mode }) => database.all(sql.list, { partner, mode }),

    conditions: async ({ partner, mode }, limit) =>
      (await database.all(sql.conditions, { partner, mode, limit })).map(conditionOf),

    async replace(endpoint, now, audit) {
      const row = rowOf(endpoint);
      // Disabling an endpoint cancels all its pending deliveries, which may be many.
      const timeoutMs = row.enabled ? callTimeoutMs : longTimeoutMs;
      return audits.write(
        audit,
        async (connection) => {
          await owners.lock(connection, row);
          if ((await sql.replace.run(connection, row)) === 0) return false;
          if (!row.enabled) await cancel(connection, row, now);
          return true;
        },
        timeoutMs,
      );
    },

    async remove({ partner, mode }, id, now, audit) {
      return audits.write(
        audit,
        async (connection) => {
          const endpoint = { partner, mode, id };
          await owners.lock(connection, endpoint);
          if ((await sql.remove.run(connection, endpoint)) === 0) return false;
          await cancel(connection, endpoint, now);
          await sql.removeQueue.run(connection, endpoint);
          await sql.removeInbox.run(connection, endpoint);
          return true;
        },
        longTimeoutMs,
      );
    },

    ...postgresEndpointLists(database, columns),

    ...postgresSealedSecrets(database, { table: 'webhook_endpoints', column: 'sealed_secret' }),
  };
}

function conditionOf({ since, at, httpStatus, error, ...condition }: ConditionRow): EndpointCondition {
  const failure = since === null ? null : { since, lastAttempt: { at, httpStatus, error } };
  return { ...condition, failure };
}

/** Copies an endpoint's record, because the caller may change its list while the write waits. */
function rowOf(endpoint: WebhookEndpointRecord): WebhookEndpointRecord {
  return { ...endpoint, events: [...endpoint.events] };
}
