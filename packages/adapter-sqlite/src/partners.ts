import type { PartnerRecord, PartnerStore } from '@ostiary/core';
import type { Database } from './database.ts';

export function sqlitePartners(database: Database): PartnerStore {
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
    async insert(partner) {
      const row = { ...partner };
      return database.write(() => sql().insert.run(row).changes === 1);
    },

    find: (slug) => database.read(() => sql().find.get(slug) ?? null),

    list: ({ after, limit }) => database.read(() => sql().list.all({ after, limit })),

    async replace(partner) {
      const row = { ...partner };
      return database.write(() => sql().replace.run(row).changes === 1);
    },
  };
}
