import type { PartnerReach, PartnerRecord, PartnerStore } from '@ostiary/core/storage';
import { postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { postgresEventOwners } from './event-owners.ts';
import { postgresSortedLists } from './sorted-lists.ts';
import { type Connection, lookup, statement } from './statement.ts';
import { callTimeoutMs, longTimeoutMs } from './timeouts.ts';
import { cancelWhere } from './webhooks.ts';

type Ended = Pick<PartnerReach, 'codes' | 'tokens' | 'deliveries'>;

const nothing: Ended = { codes: 0, tokens: 0, deliveries: 0 };

const columns = `
  slug, name, search_name AS "searchName", created_at AS "createdAt", updated_at AS "updatedAt", disabled_at AS "disabledAt", version
`;

/** Creates the statements that revoke or cancel data of a disabled partner. */
function endsIn(schema: string) {
  return {
    // Locks grants in the order of their ids, as everywhere, to avoid deadlocks.
    revokeGrants: statement<
      { slug: string; disabledAt: number; now: number },
      Pick<PartnerReach, 'codes' | 'tokens'>
    >(`
      WITH held AS MATERIALIZED (
        SELECT id FROM ${schema}.grants
        WHERE revoked_at IS NULL AND client_id IN (SELECT client_id FROM ${schema}.clients WHERE partner = :slug)
        ORDER BY id FOR UPDATE
      ),
      revoked AS (
        UPDATE ${schema}.grants SET revoked_at = :disabledAt FROM held WHERE grants.id = held.id
        RETURNING grants.id, consumed_at, expires_at
      )
      SELECT
        (SELECT count(*) FROM revoked WHERE consumed_at IS NULL AND expires_at > :now::bigint) AS codes,
        (
          SELECT count(*) FROM revoked JOIN ${schema}.access_tokens ON grant_id = revoked.id
          WHERE revoked_at IS NULL AND access_tokens.expires_at > :now::bigint
        ) AS tokens
    `),

    // From here on claims skip these endpoints. The next statement sees the result of the last claim.
    lockQueues: statement<{ slug: string }>(`
      SELECT FROM ${schema}.endpoint_queues WHERE partner = :slug ORDER BY endpoint_id FOR UPDATE
    `),

    cancel: statement<{ slug: string; now: number }>(
      cancelWhere(
        schema,
        `endpoint_id IN (SELECT id FROM ${schema}.webhook_endpoints WHERE partner = :slug)`,
      ),
    ),

    // After the cancellation, which locks the pending deliveries: results are stored in this order too.
    removeFailures: statement<{ slug: string }>(`
      DELETE FROM ${schema}.endpoint_failures
      WHERE endpoint_id IN (SELECT id FROM ${schema}.webhook_endpoints WHERE partner = :slug)
    `),

    endPortal: statement<{ slug: string }>(`
      DELETE FROM ${schema}.portal_sessions WHERE partner = :slug
    `),
  };
}

function statementsIn(schema: string) {
  return {
    ...endsIn(schema),

    insert: statement<PartnerRecord>(`
      INSERT INTO ${schema}.partners (slug, name, search_name, created_at, updated_at, disabled_at, version)
      VALUES (:slug, :name, :searchName, :createdAt, :updatedAt, :disabledAt, :version)
      ON CONFLICT (slug) DO NOTHING
    `),

    find: lookup<{ slug: string }, PartnerRecord>(
      { slug: 'text' },
      `SELECT ${columns} FROM ${schema}.partners WHERE slug = :slug`,
    ),

    list: statement<{ after: string | null; limit: number }, PartnerRecord>(`
      SELECT ${columns} FROM ${schema}.partners
      WHERE :after::text IS NULL OR slug > :after
      ORDER BY slug LIMIT :limit
    `),

    replace: statement<PartnerRecord>(`
      UPDATE ${schema}.partners SET
        name = :name, search_name = :searchName, created_at = :createdAt, updated_at = :updatedAt,
        disabled_at = :disabledAt, version = :version
      WHERE slug = :slug AND version = :version - 1
    `),

    // Waits for transactions that have locked one of the clients: to issue a grant, remember a consent, or
    // change the client.
    markClients: statement<{ slug: string; disabled: boolean }>(`
      UPDATE ${schema}.clients SET partner_disabled = :disabled::boolean
      WHERE partner = :slug AND partner_disabled <> :disabled::boolean
    `),

    reach: statement<{ slug: string; now: number }, Pick<PartnerReach, 'keys' | 'clients'>>(`
      SELECT
        (
          SELECT count(*) FROM ${schema}.api_keys
          WHERE partner = :slug AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now::bigint)
        ) AS keys,
        (SELECT count(*) FROM ${schema}.clients WHERE partner = :slug AND disabled_at IS NULL) AS clients
    `),
  };
}

export function postgresPartners(database: Database): PartnerStore {
  const audits = postgresAudits(database);
  const owners = postgresEventOwners(database);
  const sql = statementsIn(database.schema);
  const sorted = postgresSortedLists<PartnerRecord>(database, { columns, table: 'partners', id: 'slug' });

  /**
   * Revokes the grants of a partner's clients, ends its portal sessions, cancels its pending deliveries, and
   * forgets the failures of its endpoints.
   */
  async function end(
    connection: Connection,
    { slug, updatedAt: now }: PartnerRecord,
    disabledAt: number,
  ): Promise<Ended> {
    await sql.endPortal.run(connection, { slug });
    const grants = await sql.revokeGrants.get(connection, { slug, disabledAt, now });
    // From here on calls that publish wait, and then see that nothing is delivered any more.
    for (const mode of ['live', 'test'] as const) await owners.lock(connection, { partner: slug, mode });
    await sql.lockQueues.run(connection, { slug });
    const deliveries = await sql.cancel.run(connection, { slug, now });
    await sql.removeFailures.run(connection, { slug });
    return { ...nothing, ...grants, deliveries };
  }

  return {
    insert: (partner, audit) => audits.changes(audit, sql.insert, { ...partner }),

    find: (slug) => database.get(sql.find, { slug }),

    list: ({ after, limit }) => database.all(sql.list, { after, limit }),

    sorted: (page) => sorted.page(page, {}),

    named: ({ words, searched, limit }) => sorted.named({ words, searched, limit }, {}),

    count: (limit) => sorted.count(limit, {}),

    async replace(partner, audit) {
      const row = { ...partner };
      const { slug, disabledAt, updatedAt: now } = row;
      return audits.write(
        audit,
        async (connection) => {
          if ((await sql.replace.run(connection, row)) === 0) return null;
          await sql.markClients.run(connection, { slug, disabled: disabledAt !== null });
          const reach = await sql.reach.get(connection, { slug, now });
          const ended = disabledAt === null ? nothing : await end(connection, row, disabledAt);
          return { keys: 0, clients: 0, ...reach, ...ended };
        },
        disabledAt === null ? callTimeoutMs : longTimeoutMs,
      );
    },
  };
}
