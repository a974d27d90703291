import { createHash } from 'node:crypto';
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
import { startOf } from './timed-pages.ts';

/** An audit record as it is stored: details as JSON text, and the digest, which goes into the chain. */
export type AuditRow = Omit<AuditRecord, 'details'> & { readonly details: string };

type StoredRow = Omit<AuditRow, 'digest'>;
type Link = Pick<ChainedAct, 'number' | 'chain'>;
type Row = Omit<AuditFilter, 'except'> & { readonly except: string; readonly limit: number };

const beforeAll: Link = { number: 0, chain: Buffer.alloc(32) };

/** Creates the functions that store audit records inside the transactions that make the changes. */
export function sqliteAudits(database: Database) {
  const sql = database.prepare((connection) => ({
    head: connection.prepare<[], Link>('SELECT number, chain FROM audit_head'),

    insert: connection.prepare<[StoredRow & Link]>(`
      INSERT INTO audit (id, at, actor, role, action, target, details, number, chain)
      VALUES (:id, :at, :actor, :role, :action, :target, :details, :number, :chain)
    `),

    begin: connection.prepare<[Link]>(`
      INSERT INTO audit_head (id, number, chain, before)
      VALUES (1, :number, :chain, (SELECT count(*) FROM audit WHERE number IS NULL))
    `),

    advance: connection.prepare<[Link]>('UPDATE audit_head SET number = :number, chain = :chain'),
  }));

  /** Adds an act to the audit log's chain; does nothing for `null`. */
  function store(row: AuditRow | null): void {
    if (row === null) return;
    const { digest, ...act } = row;
    const head = sql().head.get();
    const last = head ?? beforeAll;
    const chain = createHash('sha256').update(last.chain).update(digest).digest();
    const link = { number: last.number + 1, chain };
    sql().insert.run({ ...act, ...link });
    (head === undefined ? sql().begin : sql().advance).run(link);
  }

  return {
    store,
    /**
     * Runs a transaction that stores an act together with its change. If `work` returns `false` or `null`,
     * nothing was changed and no act is stored.
     */
    async change<Result>(audit: AuditRecord | undefined, work: () => Result): Promise<Result> {
      const row = auditRowOf(audit);
      return database.write(() => {
        const result = work();
        if (result !== false && result !== null) store(row);
        return result;
      });
    },
  };
}

/** Columns of the audit log that a filter compares for equality. */
const compared = ['target', 'actor', 'action'] as const;

/** Returns the SQL conditions of an audit log filter, each followed by `AND`. */
function conditionsOf({ from, until = null, except = [], ...equal }: AuditFilter): string {
  return [
    ...compared.filter((name) => equal[name] !== null).map((name) => `${name} = :${name} AND `),
    from === null ? '' : 'at >= :from AND ',
    until === null ? '' : 'at <= :until AND ',
    except.length === 0 ? '' : 'action NOT IN (SELECT value FROM json_each(:except)) AND ',
  ].join('');
}

export function sqliteAudit(database: Database): AuditStore {
  const audits = sqliteAudits(database);
  const sql = database.prepare((connection) => ({
    // Lists and counts are prepared for each call, which is rare, because SQLite uses no index for
    // `:target IS NULL OR target = :target`.
    list: (conditions: string, oldestFirst: boolean) =>
      connection.prepare<[Row & ListPosition], StoredRow>(`
        SELECT id, at, actor, role, action, target, details FROM audit
        WHERE ${conditions} (at, id) ${oldestFirst ? '>' : '<'} (:time, :id)
        ORDER BY at ${oldestFirst ? 'ASC' : 'DESC'}, id ${oldestFirst ? 'ASC' : 'DESC'} LIMIT :limit
      `),

    count: (conditions: string) =>
      connection.prepare<[Row], { readonly count: number }>(`
        SELECT count(*) AS count FROM (SELECT 1 FROM audit WHERE ${conditions} true LIMIT :limit)
      `),

    head: connection.prepare<[], Omit<AuditHead, 'outside'>>('SELECT number, chain, before FROM audit_head'),

    outside: connection.prepare<[], number>('SELECT count(*) FROM audit WHERE number IS NULL').pluck(),

    chain: connection.prepare<[{ after: number; limit: number }], StoredRow & Link>(`
      SELECT id, at, actor, role, action, target, details, number, chain FROM audit
      WHERE number > :after
      ORDER BY number LIMIT :limit
    `),
  }));

  return {
    append: (record) => audits.change(record, () => undefined),

    list: ({ oldestFirst = false, after, limit, ...filter }) =>
      database.read(() => {
        const row = { ...filter, except: JSON.stringify(filter.except ?? []), limit };
        const start = startOf({ oldestFirst, after }, filter.until ?? null);
        return sql()
          .list(conditionsOf(filter), oldestFirst)
          .all({ ...row, ...start })
          .map(actOf);
      }),

    count: (filter, limit) =>
      database.read(() => {
        const row = { ...filter, except: JSON.stringify(filter.except ?? []), limit };
        return sql().count(conditionsOf(filter)).get(row)?.count ?? 0;
      }),

    head: () =>
      database.read(() => {
        const outside = sql().outside.get() ?? 0;
        return { ...(sql().head.get() ?? { ...beforeAll, before: outside }), outside };
      }),

    chain: ({ after, limit }) =>
      database.read(() => {
        const rows = sql().chain.all({ after, limit });
        return rows.map((row) => actOf(row));
      }),
  };
}

function actOf<Row extends StoredRow>(row: Row): Omit<Row, 'details'> & Pick<StoredAct, 'details'> {
  return { ...row, details: JSON.parse(row.details) };
}

/**
 * Converts an audit record to its stored form. Called before the write waits, because the caller may change
 * the object then.
 */
export function auditRowOf(record: AuditRecord | undefined): AuditRow | null {
  if (record === undefined) return null;
  return { ...record, details: JSON.stringify(record.details), digest: Buffer.from(record.digest) };
}
