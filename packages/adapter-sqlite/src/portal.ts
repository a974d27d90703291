import type { PortalSessionRecord, PortalStore } from '@ostiary/core/storage';
import { sqliteAudits } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

type Found = { readonly digest: Uint8Array; readonly now: number };

const columns = `
  id, partner, rights, made_by AS madeBy, portal_sessions.created_at AS createdAt, opened_at AS openedAt,
  expires_at AS expiresAt
`;

const ofEnabled = '(SELECT disabled_at IS NULL FROM partners WHERE slug = partner)';

function statementsOn(connection: Connection) {
  return {
    insert: connection.prepare<[PortalSessionRecord & { readonly digest: Uint8Array }]>(`
      INSERT INTO portal_sessions (id, digest, partner, rights, made_by, created_at, opened_at, expires_at)
      SELECT :id, :digest, slug, :rights, :madeBy, :createdAt, :openedAt, :expiresAt
      FROM partners WHERE slug = :partner AND disabled_at IS NULL
      ON CONFLICT DO NOTHING
    `),

    find: connection.prepare<[Found], PortalSessionRecord>(`
      SELECT ${columns} FROM portal_sessions WHERE digest = :digest AND expires_at > :now AND ${ofEnabled}
    `),

    open: connection.prepare<[Found & { readonly sessionDigest: Uint8Array; readonly expiresAt: number }]>(`
      UPDATE portal_sessions SET digest = :sessionDigest, opened_at = :now, expires_at = :expiresAt
      WHERE digest = :digest AND opened_at IS NULL AND expires_at > :now AND ${ofEnabled}
    `),

    list: connection.prepare<[{ readonly partner: string; readonly now: number }], PortalSessionRecord>(`
      SELECT ${columns} FROM portal_sessions WHERE partner = :partner AND expires_at > :now
      ORDER BY created_at DESC, id
    `),

    remove: connection.prepare<[{ readonly partner: string; readonly id: string }]>(`
      DELETE FROM portal_sessions WHERE id = :id AND partner = :partner
    `),
  };
}

export function sqlitePortal(database: Database): PortalStore {
  const audits = sqliteAudits(database);
  const sql = database.prepare(statementsOn);

  return {
    async insert(link, audit) {
      const row = { ...link, digest: Buffer.from(link.digest) };
      return audits.change(audit, () => sql().insert.run(row).changes > 0);
    },

    find: (digest, now) => database.read(() => sql().find.get({ digest, now }) ?? null),

    async open(use, audit) {
      const row = { ...use, digest: Buffer.from(use.digest), sessionDigest: Buffer.from(use.sessionDigest) };
      return audits.change(audit, () => sql().open.run(row).changes > 0);
    },

    list: (partner, now) => database.read(() => sql().list.all({ partner, now })),

    async remove(partner, id, audit) {
      return audits.change(audit, () => sql().remove.run({ partner, id }).changes > 0);
    },
  };
}
