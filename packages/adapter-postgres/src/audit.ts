import type {
  AuditHead,
  AuditRecord,
  AuditStore,
  ChainedAct,
  ListPosition,
  StoredAct,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Connection, statement } from './statement.ts';

/** A record as it is kept: its details are JSON text, and its digest goes into the chain. */
export type AuditRow = Omit<AuditRecord, 'details'> & { readonly details: string };

type StoredRow = Omit<AuditRow, 'digest'>;
type Page = ListPosition & { readonly limit: number };

/** The records of acts, inside the transactions that make the changes. */
export interface Audits {
  /**
   * Does nothing for an act that is not audited. To be called last: from here until the commit every other act waits.
   */
  store(connection: Connection, row: AuditRow | null): Promise<void>;
  /** One statement: alone, or, if it changes something, in one transaction with the record of its act. */
  change(row: AuditRow | null, work: (connection: Connection) => Promise<boolean>): Promise<boolean>;
}

export function postgresAudits(database: Database): Audits {
  const { schema } = database;
  // The row of the head decides who is next. Acts are only counted by the first one that is in the chain.
  const insert = statement<AuditRow>(`
    WITH head AS (
      INSERT INTO ${schema}.audit_head AS last (id, number, chain, before)
      VALUES (
        1, 1, sha256(decode(repeat('00', 32), 'hex') || :digest::bytea),
        CASE
          WHEN EXISTS (SELECT FROM ${schema}.audit_head) THEN 0
          ELSE (SELECT count(*) FROM ${schema}.audit WHERE number IS NULL)
        END
      )
      ON CONFLICT (id) DO UPDATE SET number = last.number + 1, chain = sha256(last.chain || :digest::bytea)
      RETURNING number, chain
    )
    INSERT INTO ${schema}.audit (id, at, actor, action, target, details, number, chain)
    SELECT :id, :at, :actor, :action, :target, :details, number, chain FROM head
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

function statementsIn(schema: string) {
  return {
    list: statement<Page, StoredRow>(`
      SELECT id, at, actor, action, target, details FROM ${schema}.audit
      WHERE (at, id) < (:time, :id)
      ORDER BY at DESC, id DESC LIMIT :limit
    `),

    listOfTarget: statement<Page & { readonly target: string }, StoredRow>(`
      SELECT id, at, actor, action, target, details FROM ${schema}.audit
      WHERE target = :target AND (at, id) < (:time, :id)
      ORDER BY at DESC, id DESC LIMIT :limit
    `),

    head: statement<object, AuditHead>(`
      SELECT
        coalesce(number, 0) AS number, coalesce(chain, decode(repeat('00', 32), 'hex')) AS chain,
        coalesce(before, outside) AS before, outside
      FROM (SELECT count(*) AS outside FROM ${schema}.audit WHERE number IS NULL) AS counted
      LEFT JOIN ${schema}.audit_head ON true
    `),

    chain: statement<{ after: number; limit: number }, StoredRow & Pick<ChainedAct, 'number' | 'chain'>>(`
      SELECT id, at, actor, action, target, details, number, chain FROM ${schema}.audit
      WHERE number > :after
      ORDER BY number LIMIT :limit
    `),
  };
}

export function postgresAudit(database: Database): AuditStore {
  const audits = postgresAudits(database);
  const sql = statementsIn(database.schema);

  return {
    async append(record) {
      const row = auditRowOf(record);
      await database.change((connection) => audits.store(connection, row));
    },

    list: ({ target, after, limit }) =>
      database.read(async (connection) => {
        const page = { time: after?.time ?? Number.MAX_SAFE_INTEGER, id: after?.id ?? '', limit };
        const rows =
          target === null
            ? await sql.list.all(connection, page)
            : await sql.listOfTarget.all(connection, { ...page, target });
        return rows.map(withDetails);
      }),

    head: () =>
      database.read(async (connection) => {
        const empty = { number: 0, chain: Buffer.alloc(32), before: 0, outside: 0 };
        return (await sql.head.get(connection, {})) ?? empty;
      }),

    chain: ({ after, limit }) =>
      database.read(async (connection) =>
        (await sql.chain.all(connection, { after, limit })).map((row) => withDetails(row)),
      ),
  };
}

function withDetails<Row extends StoredRow>(row: Row): Omit<Row, 'details'> & Pick<StoredAct, 'details'> {
  return { ...row, details: JSON.parse(row.details) };
}

/** Before the write begins: its caller may go on with the object while the write waits. */
export function auditRowOf(record: AuditRecord): AuditRow;
export function auditRowOf(record: AuditRecord | undefined): AuditRow | null;
export function auditRowOf(record: AuditRecord | undefined): AuditRow | null {
  if (record === undefined) return null;
  return { ...record, details: JSON.stringify(record.details), digest: Buffer.from(record.digest) };
}
