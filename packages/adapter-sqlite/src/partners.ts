import type { PartnerReach, PartnerRecord, PartnerStore } from '@ostiary/core/storage';
import { sqliteAudits } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { sortedListsOn } from './sorted-lists.ts';

const columns =
  'slug, name, search_name AS searchName, created_at AS createdAt, updated_at AS updatedAt, disabled_at AS disabledAt, version';

function statementsOn(connection: Connection) {
  return {
    insert: connection.prepare<[PartnerRecord]>(`
      INSERT INTO partners (slug, name, search_name, created_at, updated_at, disabled_at, version)
      VALUES (:slug, :name, :searchName, :createdAt, :updatedAt, :disabledAt, :version)
      ON CONFLICT (slug) DO NOTHING
    `),

    find: connection.prepare<[string], PartnerRecord>(`
      SELECT ${columns} FROM partners WHERE slug = ?
    `),

    list: connection.prepare<[{ after: string | null; limit: number }], PartnerRecord>(`
      SELECT ${columns} FROM partners
      WHERE :after IS NULL OR slug > :after
      ORDER BY slug LIMIT :limit
    `),

    sorted: sortedListsOn<PartnerRecord>(connection, { columns, table: 'partners', id: 'slug' }),

    replace: connection.prepare<[PartnerRecord]>(`
      UPDATE partners SET
        name = :name, search_name = :searchName, created_at = :createdAt, updated_at = :updatedAt,
        disabled_at = :disabledAt, version = :version
      WHERE slug = :slug AND version = :version - 1
    `),

    markClients: connection.prepare<[{ slug: string; disabled: 0 | 1 }]>(`
      UPDATE clients SET partner_disabled = :disabled WHERE partner = :slug AND partner_disabled <> :disabled
    `),

    reach: connection.prepare<[{ slug: string; now: number }], Pick<PartnerReach, 'keys' | 'clients'>>(`
      SELECT
        (
          SELECT count(*) FROM api_keys
          WHERE partner = :slug AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
        ) AS keys,
        (SELECT count(*) FROM clients WHERE partner = :slug AND disabled_at IS NULL) AS clients
    `),

    alive: connection.prepare<[{ slug: string; now: number }], Pick<PartnerReach, 'codes' | 'tokens'>>(`
      WITH ending AS MATERIALIZED (
        SELECT id, consumed_at IS NULL AND grants.expires_at > :now AS code
        FROM clients CROSS JOIN grants ON grants.client_id = clients.client_id
        WHERE partner = :slug AND revoked_at IS NULL
      )
      SELECT
        (SELECT count(*) FROM ending WHERE code) AS codes,
        (
          SELECT count(*) FROM ending CROSS JOIN access_tokens ON grant_id = ending.id
          WHERE revoked_at IS NULL AND expires_at > :now
        ) AS tokens
    `),

    revokeGrants: connection.prepare<[{ slug: string; disabledAt: number }]>(`
      UPDATE grants SET revoked_at = :disabledAt
      WHERE revoked_at IS NULL AND client_id IN (SELECT client_id FROM clients WHERE partner = :slug)
    `),

    // A worker that has claimed one of these deliveries loses it: its result will be refused.
    cancel: connection.prepare<[{ slug: string; now: number }]>(`
      UPDATE deliveries SET status = 'cancelled', ended_at = :now
      WHERE status = 'pending' AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE partner = :slug)
    `),

    removeFailures: connection.prepare<[{ slug: string }]>(`
      DELETE FROM endpoint_failures WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE partner = :slug)
    `),

    endPortal: connection.prepare<[{ slug: string }]>('DELETE FROM portal_sessions WHERE partner = :slug'),
  };
}

export function sqlitePartners(database: Database): PartnerStore {
  const audits = sqliteAudits(database);
  const sql = database.prepare(statementsOn);

  /**
   * Revokes the grants of a partner's clients, ends its portal sessions, cancels its pending deliveries, and
   * forgets the failures of its endpoints.
   */
  function end(slug: string, disabledAt: number, now: number): Omit<PartnerReach, 'keys' | 'clients'> {
    const { codes = 0, tokens = 0 } = sql().alive.get({ slug, now }) ?? {};
    sql().revokeGrants.run({ slug, disabledAt });
    sql().endPortal.run({ slug });
    sql().removeFailures.run({ slug });
    return { codes, tokens, deliveries: sql().cancel.run({ slug, now }).changes };
  }

  return {
    async insert(partner, audit) {
      const row = { ...partner };
      return audits.change(audit, () => sql().insert.run(row).changes > 0);
    },

    find: (slug) => database.read(() => sql().find.get(slug) ?? null),

    list: ({ after, limit }) => database.read(() => sql().list.all({ after, limit })),

    sorted: (page) => database.read(() => sql().sorted.page(page, {})),

    named: ({ words, searched, limit }) =>
      database.read(() => sql().sorted.named({ words, searched, limit }, {})),

    count: (limit) => database.read(() => sql().sorted.count(limit, {})),

    async replace(partner, audit) {
      const row = { ...partner };
      return audits.change(audit, () => {
        if (sql().replace.run(row).changes === 0) return null;
        const { slug, disabledAt, updatedAt: now } = row;
        sql().markClients.run({ slug, disabled: disabledAt === null ? 0 : 1 });
        const { keys = 0, clients = 0 } = sql().reach.get({ slug, now }) ?? {};
        const ended =
          disabledAt === null ? { codes: 0, tokens: 0, deliveries: 0 } : end(slug, disabledAt, now);
        return { keys, clients, ...ended };
      });
    },
  };
}
