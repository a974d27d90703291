import type {
  AuditFilter,
  AuditHead,
  AuditRecord,
  AuditStore,
  ChainedAct,
  ListPosition,
  StoredAct,
} from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { type Connection, type Statement, statement } from './statement.ts';
import { startOf } from './timed-pages.ts';

/** An audit record as it is stored: details as JSON text, and the digest, which goes into the chain. */
export type AuditRow = Omit<AuditRecord, 'details'> & { readonly details: string };

type StoredRow = Omit<AuditRow, 'digest'>;
type Row = Required<AuditFilter> & { readonly limit: number };

/**
 * Creates the functions that store changes together with their audit records. If a change returns `false` or
 * `null`, nothing was changed, and no audit record is stored.
 */
export function postgresAudits(database: Database) {
  const { schema } = database;
  // Updating the head row decides whose turn it is. `before` is counted only by the first act in the chain.
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
    INSERT INTO ${schema}.audit (id, at, actor, role, action, target, details, number, chain)
    SELECT :id, :at, :actor, :role, :action, :target, :details, number, chain FROM head
  `);
  /**
   * Adds an act to the audit log's chain; does nothing for `null`. Must be the last step of a transaction:
   * until the commit every other act waits.
   */
  async function store(connection: Connection, row: AuditRow | null): Promise<void> {
    if (row !== null) await insert.run(connection, row);
  }

  /** Runs a transaction that adds its act to the audit log at the end. */
  async function write<Result>(
    audit: AuditRecord | undefined,
    work: (connection: Connection) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result> {
    const row = auditRowOf(audit);
    return database.write(async (connection) => {
      const result = await work(connection);
      if (result !== false && result !== null) await store(connection, row);
      return result;
    }, timeoutMs);
  }

  return {
    store,
    write,
    /**
     * Runs a statement that changes rows, and returns whether it changed any. Given an audit record, stores
     * the record in the same transaction if a row was changed.
     */
    changes: <Parameters extends object>(
      audit: AuditRecord | undefined,
      one: Statement<Parameters>,
      parameters: Parameters,
    ): Promise<boolean> =>
      audit === undefined
        ? database.changes(one, parameters)
        : write(audit, async (connection) => (await one.run(connection, parameters)) > 0),
  };
}

const rowOf = (
  { target, actor, action, from, until = null, except = [] }: AuditFilter,
  limit: number,
): Row => ({
  ...{ target, actor, action, from, until, except, limit },
});

function statementsIn(schema: string) {
  const where = `
    (:target::text IS NULL OR target = :target) AND (:actor::text IS NULL OR actor = :actor)
    AND (:action::text IS NULL OR action = :action) AND (:from::bigint IS NULL OR at >= :from)
    AND (:until::bigint IS NULL OR at <= :until) AND action <> ALL (:except::text[])
  `;
  const list = (comparison: '<' | '>', order: 'ASC' | 'DESC') =>
    statement<Row & ListPosition, StoredRow>(`
      SELECT id, at, actor, role, action, target, details FROM ${schema}.audit
      WHERE ${where} AND (at, id) ${comparison} (:time, :id)
      ORDER BY at ${order}, id ${order} LIMIT :limit
    `);
  return {
    // Planned with the actual parameters, so that a filter of `null` costs nothing.
    list: list('<', 'DESC'),
    back: list('>', 'ASC'),

    count: statement<Row, { readonly count: number }>(`
      SELECT count(*) AS count FROM (SELECT FROM ${schema}.audit WHERE ${where} LIMIT :limit) AS counted
    `),

    head: statement<object, AuditHead>(`
      SELECT
        coalesce(number, 0) AS number, coalesce(chain, decode(repeat('00', 32), 'hex')) AS chain,
        coalesce(before, outside) AS before, outside
      FROM (SELECT count(*) AS outside FROM ${schema}.audit WHERE number IS NULL) AS counted
      LEFT JOIN ${schema}.audit_head ON true
    `),

    chain: statement<{ after: number; limit: number }, StoredRow & Pick<ChainedAct, 'number' | 'chain'>>(`
      SELECT id, at, actor, role, action, target, details, number, chain FROM ${schema}.audit
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

    async list({ oldestFirst = false, after, limit, ...filter }) {
      const start = startOf({ oldestFirst, after }, filter.until ?? null);
      const page = { ...rowOf(filter, limit), ...start };
      return (await database.all(oldestFirst ? sql.back : sql.list, page)).map(withDetails);
    },

    count: async (filter, limit) => (await database.get(sql.count, rowOf(filter, limit)))?.count ?? 0,

    head: async () =>
      (await database.get(sql.head, {})) ?? { number: 0, chain: Buffer.alloc(32), before: 0, outside: 0 },

    chain: async (page) => (await database.all(sql.chain, { ...page })).map((row) => withDetails(row)),
  };
}

function withDetails<Row extends StoredRow>(row: Row): Omit<Row, 'details'> & Pick<StoredAct, 'details'> {
  return { ...row, details: JSON.parse(row.details) };
}

/**
 * Converts an audit record to its stored form. Called before the write waits for a connection, because the
 * caller may change the object then.
 */
export function auditRowOf(record: AuditRecord | undefined): AuditRow | null {
  if (record === undefined) return null;
  return { ...record, details: JSON.stringify(record.details), digest: Buffer.from(record.digest) };
}
