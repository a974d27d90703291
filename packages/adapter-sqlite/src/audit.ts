import type { AuditPosition, AuditRecord, AuditStore } from '@ostiary/core';
import type { Database } from './database.ts';

/** A record as it is kept: its details are JSON text. */
export type AuditRow = Omit<AuditRecord, 'details'> & { readonly details: string };

type Page = AuditPosition & { readonly limit: number };

/** The records of acts, inside the transactions that make the changes. */
export interface Audits {
  /** Does nothing for an act that is not audited. */
  store(row: AuditRow | null): void;
}

export function sqliteAudits(database: Database): Audits {
  const sql = database.prepare((connection) => ({
    insert: connection.prepare<[AuditRow]>(`
      INSERT INTO audit (id, at, actor, action, target, details)
      VALUES (:id, :at, :actor, :action, :target, :details)
    `),
  }));

  return {
    store(row) {
      if (row !== null) sql().insert.run(row);
    },
  };
}

export function sqliteAudit(database: Database): AuditStore {
  const audits = sqliteAudits(database);
  const sql = database.prepare((connection) => ({
    list: connection.prepare<[Page], AuditRow>(`
      SELECT id, at, actor, action, target, details FROM audit
      WHERE (at, id) < (:at, :id)
      ORDER BY at DESC, id DESC LIMIT :limit
    `),

    listOfTarget: connection.prepare<[Page & { readonly target: string }], AuditRow>(`
      SELECT id, at, actor, action, target, details FROM audit
      WHERE target = :target AND (at, id) < (:at, :id)
      ORDER BY at DESC, id DESC LIMIT :limit
    `),
  }));

  return {
    async append(record) {
      const row = auditRowOf(record);
      await database.write(() => audits.store(row));
    },

    list: ({ target, after, limit }) =>
      database.read(() => {
        const page = { at: after?.at ?? Number.MAX_SAFE_INTEGER, id: after?.id ?? '', limit };
        const rows = target === null ? sql().list.all(page) : sql().listOfTarget.all({ ...page, target });
        return rows.map((row) => ({ ...row, details: JSON.parse(row.details) }));
      }),
  };
}

/** Before the write begins: its caller may go on with the object while the write waits. */
export function auditRowOf(record: AuditRecord): AuditRow;
export function auditRowOf(record: AuditRecord | undefined): AuditRow | null;
export function auditRowOf(record: AuditRecord | undefined): AuditRow | null {
  return record === undefined ? null : { ...record, details: JSON.stringify(record.details) };
}
