import type { PartnerRecord, PartnerStore } from '@ostiary/core';
import { auditRowOf, sqliteAudits } from './audit.ts';
import type { Database } from './database.ts';

export function sqlitePartners(database: Database): PartnerStore {
  const audits = sqliteAudits(database);
  const sql = database.prepare((connection) => ({
    insert: connection.prepare<[PartnerRecord]>(`
      INSERT INTO partners (slug, name, created_at, updated_at, disabled_at, version)
      VALUES (:slug, :name, :createdAt, :updatedAt, :disabledAt, :version)
      ON CONFLICT (slug) DO NOTHING
    `),

    find: connection.prepare<[string], PartnerRecord>(`
      SELECT
        slug, name, created_at AS createdAt, updated_at AS updatedAt, disabled_at AS disabledAt, version
      FROM partners WHERE slug = ?
    `),

    list: connection.prepare<[{ after: string | null; limit: number }], PartnerRecord>(`
      SELECT
        slug, name, created_at AS createdAt, updated_at AS updatedAt, disabled_at AS disabledAt, version
      FROM partners
      WHERE :after IS NULL OR slug > :after
      ORDER BY slug LIMIT :limit
    `),

    replace: connection.prepare<[PartnerRecord]>(`
      UPDATE partners SET
        name = :name, created_at = :createdAt, updated_at = :updatedAt, disabled_at = :disabledAt,
        version = :version
      WHERE slug = :slug AND version = :version - 1
    `),
  }));

  return {
    async insert(partner, audit) {
      const row = { ...partner };
      const act = auditRowOf(audit);
      return database.write(() => {
        if (sql().insert.run(row).changes === 0) return false;
        audits.store(act);
        return true;
      });
    },

    find: (slug) => database.read(() => sql().find.get(slug) ?? null),

    list: ({ after, limit }) => database.read(() => sql().list.all({ after, limit })),

    async replace(partner, audit) {
      const row = { ...partner };
      const act = auditRowOf(audit);
      return database.write(() => {
        if (sql().replace.run(row).changes === 0) return false;
        audits.store(act);
        return true;
      });
    },
  };
}
