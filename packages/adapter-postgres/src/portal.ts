import type { PortalSessionRecord, PortalStore } from '@ostiary/core/storage';
import { postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

type Found = { readonly digest: Uint8Array; readonly now: number };

function statementsIn(schema: string) {
  const columns = `
    id, partner, rights, made_by AS "madeBy", created_at AS "createdAt", opened_at AS "openedAt", expires_at AS "expiresAt"
  `;
  const ofEnabled = `
    EXISTS (SELECT FROM ${schema}.partners WHERE slug = portal_sessions.partner AND disabled_at IS NULL)
  `;
  return {
    // Waits for a transaction that disables the partner.
    insert: statement<PortalSessionRecord & { readonly digest: Uint8Array }>(`
      INSERT INTO ${schema}.portal_sessions (id, digest, partner, rights, made_by, created_at, opened_at, expires_at)
      SELECT :id, :digest, slug, :rights, :madeBy, :createdAt, :openedAt, :expiresAt
      FROM ${schema}.partners WHERE slug = :partner AND disabled_at IS NULL FOR SHARE
      ON CONFLICT DO NOTHING
    `),

    find: statement<Found, PortalSessionRecord>(`
      SELECT ${columns} FROM ${schema}.portal_sessions
      WHERE digest = :digest AND expires_at > :now AND ${ofEnabled}
    `),

    open: statement<Found & { readonly sessionDigest: Uint8Array; readonly expiresAt: number }>(`
      UPDATE ${schema}.portal_sessions SET digest = :sessionDigest, opened_at = :now, expires_at = :expiresAt
      WHERE digest = :digest AND opened_at IS NULL AND expires_at > :now AND ${ofEnabled}
    `),

    list: statement<{ readonly partner: string; readonly now: number }, PortalSessionRecord>(`
      SELECT ${columns} FROM ${schema}.portal_sessions WHERE partner = :partner AND expires_at > :now
      ORDER BY created_at DESC, id
    `),

    remove: statement<{ readonly partner: string; readonly id: string }>(`
      DELETE FROM ${schema}.portal_sessions WHERE id = :id AND partner = :partner
    `),
  };
}

export function postgresPortal(database: Database): PortalStore {
  const audits = postgresAudits(database);
  const sql = statementsIn(database.schema);

  return {
    insert: (link, audit) => audits.changes(audit, sql.insert, { ...link, digest: Buffer.from(link.digest) }),

    find: async (digest, now) => (await database.get(sql.find, { digest: Buffer.from(digest), now })) ?? null,

    open: ({ digest, sessionDigest, ...use }, audit) =>
      audits.changes(audit, sql.open, {
        ...use,
        digest: Buffer.from(digest),
        sessionDigest: Buffer.from(sessionDigest),
      }),

    list: (partner, now) => database.all(sql.list, { partner, now }),

    remove: (partner, id, audit) => audits.changes(audit, sql.remove, { partner, id }),
  };
}
