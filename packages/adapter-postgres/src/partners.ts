import type { PartnerRecord, PartnerStore } from '@ostiary/core';
import { auditRowOf, postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

export function postgresPartners(database: Database): PartnerStore {
  const { schema } = database;
  const audits = postgresAudits(database);
  const columns = `
    slug, name, created_at AS "createdAt", updated_at AS "updatedAt", disabled_at AS "disabledAt", version
  `;
  const sql = {
    insert: statement<PartnerRecord>(`
      INSERT INTO ${schema}.partners (slug, name, created_at, updated_at, disabled_at, version)
      VALUES (:slug, :name, :createdAt, :updatedAt, :disabledAt, :version)
      ON CONFLICT (slug) DO NOTHING
    `),

    find: statement<{ slug: string }, PartnerRecord>(`
      SELECT ${columns} FROM ${schema}.partners WHERE slug = :slug
    `),

    list: statement<{ after: string | null; limit: number }, PartnerRecord>(`
      SELECT ${columns} FROM ${schema}.partners
      WHERE :after::text IS NULL OR slug > :after
      ORDER BY slug LIMIT :limit
    `),

    replace: statement<PartnerRecord>(`
      UPDATE ${schema}.partners SET
        name = :name, created_at = :createdAt, updated_at = :updatedAt, disabled_at = :disabledAt,
        version = :version
      WHERE slug = :slug AND version = :version - 1
    `),
  };

  return {
    async insert(partner, audit) {
      const row = { ...partner };
      return audits.change(
        auditRowOf(audit),
        async (connection) => (await sql.insert.run(connection, row)) === 1,
      );
    },

    find: (slug) => database.read(async (connection) => (await sql.find.get(connection, { slug })) ?? null),

    list: ({ after, limit }) => database.read((connection) => sql.list.all(connection, { after, limit })),

    async replace(partner, audit) {
      const row = { ...partner };
      return audits.change(
        auditRowOf(audit),
        async (connection) => (await sql.replace.run(connection, row)) === 1,
      );
    },
  };
}
