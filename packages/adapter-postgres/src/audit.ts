import type { AuditPosition, AuditRecord, AuditStore } from '@ostiary/core';
import type { Database } from './database.ts';
import { type Connection, statement } from './statement.ts';

/** A record as it is kept: its details are JSON text. */
export type AuditRow = Omit<AuditRecord, 'details'> & { readonly details: string };

type Page = AuditPosition & { readonly limit: number };

/** The records of acts, inside the transactions that make the changes. */
export interface Audits {
  /** Does nothing for an act that is not audited. */
  store(connection: Connection, row: AuditRow | null): Promise<void>;
  /** One statement: alone, or, if it changes something, in one transaction with the record of its act. */
  change(row: AuditRow | null, work: (connection: Connection) => Promise<boolean>): Promise<boolean>;
}

export function postgresAudits(database: Database): Audits {
  const insert = statement<AuditRow>(`
    INSERT INTO ${database.schema}.audit (id, at, actor, action, target, details)
    VALUES (:id, :at, :actor, :action, :target, :details)
  `);
  const store: Audits['store'] = async (connection, row) => {
    if (row !== null) await insert.run(connection, row);
  };

  return {
    store,
    change: (row, work) =>
      row === null
        ? database.change(work)
        : database.write(async (connection) => {
            const changed = await work(connection);
            if (changed) await store(connection, row);
            return changed;
          }),
  };
}

export function postgresAudit(database: Database): AuditStore {
  const { schema } = database;
  const audits = postgresAudits(database);
  const sql = {
    list: statement<Page, AuditRow>(`
      SELECT id, at, actor, action, target, details FROM ${schema}.audit
      WHERE (at, id) < (:at, :id)
      ORDER BY at DESC, id DESC LIMIT :limit
    `),

    listOfTarget: statement<Page & { readonly target: string }, AuditRow>(`
      SELECT id, at, actor, action, target, details FROM ${schema}.audit
      WHERE target = :target AND (at, id) < (:at, :id)
      ORDER BY at DESC, id DESC LIMIT :limit
    `),
  };

  return {
    async append(record) {
      const row = auditRowOf(record);
      await database.change((connection) => audits.store(connection, row));
    },

    list: ({ target, after, limit }) =>
      database.read(async (connection) => {
        const page = { at: after?.at ?? Number.MAX_SAFE_INTEGER, id: after?.id ?? '', limit };
        const rows =
          target === null
            ? await sql.list.all(connection, page)
            : await sql.listOfTarget.all(connection, { ...page, target });
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
