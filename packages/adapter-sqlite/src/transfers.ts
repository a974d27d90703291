import type { ListPosition, Owner, Quota, TransferCreation, TransferStore } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { sqliteClaims } from './idempotency.ts';
import { publicationsOn } from './publications.ts';
import { jobRowOf, jobsOn } from './queue.ts';
import {
  columns,
  failureColumns,
  type NewTransferRow,
  rowOf,
  type Settled,
  type StoredTransferRow,
  transferOf,
} from './transfer-rows.ts';

type ListRequest = Parameters<TransferStore['list']>[0];
type FinalRequest = Parameters<TransferStore['listFinal']>[0];
type CountRequest = Parameters<TransferStore['count']>[0];
/**
 * Parameters of a query for a page of transfers: the filter, the position after which the page starts in the
 * order of the list, and the bound of the times.
 */
type Page = Omit<ListRequest, 'from' | 'to' | 'after' | 'oldestFirst'> &
  ListPosition & { readonly bound: number };
/**
 * Parameters of a query for a page of an export, oldest first: the position after which the page starts, and
 * the end `to` of the period.
 */
type FinalPage = Omit<FinalRequest, 'from' | 'after'> & ListPosition;

const newestFirst = {
  within: 'created_at >= :bound AND (created_at, id) < (:time, :id)',
  order: 'ORDER BY created_at DESC, id DESC',
} as const;
const oldestFirst = {
  within: '(created_at, id) > (:time, :id) AND created_at < :bound',
  order: 'ORDER BY created_at, id',
} as const;

/**
 * SQL conditions of the lists of transfers, one for each index. A partner has at most one transfer with a
 * reference in each mode.
 */
const conditions = {
  all: '',
  withStatus: 'AND status = :status',
  withReference: 'AND reference = :reference AND (:status IS NULL OR status = :status)',
} as const;

const conditionOf = ({ status, reference }: Pick<ListRequest, 'status' | 'reference'>) =>
  reference === null ? (status === null ? 'all' : 'withStatus') : 'withReference';

/** Transfers of one partner in one mode; SQLite chooses the index by the other conditions. */
const ofPartner = 'transfers WHERE partner = :partner AND mode = :mode';

/** Transfers of all partners in one mode. */
const ofAll = 'transfers INDEXED BY transfers_by_time WHERE mode = :mode';

/** Prepares the statements that list transfers in one order. */
function listsOn(
  connection: Connection,
  transfers: typeof ofPartner | typeof ofAll,
  { within, order }: typeof newestFirst | typeof oldestFirst,
) {
  const list = (condition: string, sorted: string) =>
    connection.prepare<[Page], StoredTransferRow>(`
      SELECT ${columns} FROM ${transfers} AND ${within} ${condition} ${sorted} LIMIT :limit
    `);
  return {
    all: list(conditions.all, order),
    withStatus: list(conditions.withStatus, order),
    // The at most one row of a partner needs no sorting.
    withReference: list(conditions.withReference, transfers === ofPartner ? '' : order),
  };
}

/** Prepares the statements that count transfers. */
function countsOn(connection: Connection, transfers: typeof ofPartner | typeof ofAll) {
  const count = (condition: string) =>
    connection.prepare<
      [Omit<CountRequest, 'from' | 'to'> & { from: number; to: number }],
      { count: number }
    >(`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM ${transfers} AND created_at >= :from AND created_at < :to ${condition} LIMIT :most
      )
    `);
  return {
    all: count(conditions.all),
    withStatus: count(conditions.withStatus),
    withReference: count(conditions.withReference),
  };
}

function statementsOn(connection: Connection) {
  return {
    insert: connection.prepare<[NewTransferRow]>(`
      INSERT INTO transfers (
        id, partner, mode, status, amount, currency, recipient_kid, description, reference, metadata,
        failure_code, failure_message, created_at, updated_at, completed_at
      )
      VALUES (
        :id, :partner, :mode, :status, :amount, :currency, :recipientKid, :description, :reference, :metadata,
        :failureCode, :failureMessage, :createdAt, :updatedAt, :completedAt
      )
    `),

    findReference: connection.prepare<[Owner & { reference: string }], { id: string }>(`
      SELECT id FROM transfers WHERE partner = :partner AND mode = :mode AND reference = :reference
    `),

    find: connection.prepare<[Owner & { id: string }], StoredTransferRow>(`
      SELECT ${columns} FROM transfers WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: connection.prepare<[string], StoredTransferRow>(`
      SELECT ${columns} FROM transfers WHERE id = ?
    `),

    ofPartner: {
      newestFirst: listsOn(connection, ofPartner, newestFirst),
      oldestFirst: listsOn(connection, ofPartner, oldestFirst),
      counts: countsOn(connection, ofPartner),
    },
    ofAll: {
      newestFirst: listsOn(connection, ofAll, newestFirst),
      oldestFirst: listsOn(connection, ofAll, oldestFirst),
      counts: countsOn(connection, ofAll),
    },

    settle: connection.prepare<[Settled & { readonly now: number }]>(`
      UPDATE transfers SET
        status = :status, failure_code = :failureCode, failure_message = :failureMessage, updated_at = :now,
        completed_at = :completedAt
      WHERE id = :id AND status = 'pending'
    `),

    // The plus signs keep SQLite from planning again for every page, which it does with a partial index.
    listFinal: connection.prepare<[FinalPage], StoredTransferRow>(`
      SELECT ${columns} FROM transfers
      WHERE partner = +:partner AND mode = +:mode AND status <> 'pending'
        AND (updated_at, id) > (+:time, +:id) AND updated_at < +:to
      ORDER BY updated_at, id LIMIT +:limit
    `),

    removeOldest: connection.prepare<[Owner & Quota & { before: number; limit: number }]>(`
      DELETE FROM transfers WHERE id IN (
        SELECT id FROM (
          SELECT id, created_at, row_number() OVER newest AS rows, sum(
            ifnull(octet_length(description), 0) + ifnull(octet_length(reference), 0) + ifnull(octet_length(metadata), 0)
          ) OVER newest AS bytes
          FROM transfers WHERE partner = :partner AND mode = :mode
          WINDOW newest AS (ORDER BY created_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
        )
        WHERE created_at < :before OR rows > :rows OR bytes > :bytes
        ORDER BY created_at, id LIMIT :limit
      )
    `),
  };
}

export function sqliteTransfers(database: Database): TransferStore {
  const claims = sqliteClaims(database);
  const storeJob = database.prepare(jobsOn);
  const publications = database.prepare(publicationsOn);
  const sql = database.prepare(statementsOn);

  return {
    async create({ transfer, idempotency, job, now }) {
      const row = rowOf(transfer);
      const jobRow = jobRowOf(job);
      return claims.once<TransferCreation>(idempotency, now, () => {
        const { partner, mode, reference } = row;
        if (reference !== null) {
          const taken = sql().findReference.get({ partner, mode, reference });
          if (taken !== undefined) return { outcome: 'reference_conflict', transferId: taken.id };
        }
        sql().insert.run(row);
        storeJob()(jobRow);
        return { outcome: 'created' };
      });
    },

    find: ({ partner, mode }, id) => database.find(() => sql().find.get({ partner, mode, id }), transferOf),

    findById: (id) => database.find(() => sql().findById.get(id), transferOf),

    list: (request) =>
      database.read(() => {
        const { partner, mode, status, reference, limit, oldestFirst = false } = request;
        const lists = sql()[partner === null ? 'ofAll' : 'ofPartner'];
        const statements = oldestFirst ? lists.oldestFirst : lists.newestFirst;
        const page = { partner, mode, status, reference, ...endsOf(request), limit };
        return statements[conditionOf(request)].all(page).map(transferOf);
      }),

    count: ({ partner, mode, status, reference, from, to, most }) =>
      database.read(() => {
        const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
        const { counts } = sql()[partner === null ? 'ofAll' : 'ofPartner'];
        const count = counts[conditionOf({ status, reference })];
        return count.get({ partner, mode, status, reference, ...range, most })?.count ?? 0;
      }),

    async settle({ id, status, failure, event, now }) {
      const completedAt = status === 'completed' ? now : null;
      const final = { id, status, ...failureColumns(failure), completedAt, now };
      const published = { ...event };
      return database.write(() => {
        const settled = sql().settle.run(final).changes === 1;
        if (settled) publications().publish([published]);
        const row = sql().findById.get(id);
        return row === undefined ? null : { transfer: transferOf(row), settled };
      });
    },

    listFinal: ({ partner, mode, from, to, after, limit }) =>
      database.read(() => {
        const start = startOf(from);
        const past = after !== null && isBefore(start, after) ? after : start;
        return sql()
          .listFinal.all({ partner, mode, ...past, to, limit })
          .map(transferOf);
      }),

    removeOldest: ({ partner, mode, rows, bytes, before, limit }) =>
      database.write(() => sql().removeOldest.run({ partner, mode, rows, bytes, before, limit }).changes),
  };
}

/**
 * Returns the list position before all transfers of a time: the empty text sorts before all ids. So one
 * comparison expresses both the end of the period and the position after which a page starts.
 */
function startOf(time: number): ListPosition {
  return { time, id: '' };
}

/**
 * Returns the ends of a page of a list: the position after which the page starts, and the bound of the times at the other
 * end.
 */
function endsOf({ from, to, after, oldestFirst = false }: ListRequest): ListPosition & { bound: number } {
  const [first, last] = [from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER];
  const start = startOf(oldestFirst ? first : last);
  const isWithin = after !== null && (oldestFirst ? isBefore(start, after) : isBefore(after, start));
  return { ...(isWithin ? after : start), bound: oldestFirst ? last : first };
}

function isBefore(a: ListPosition, b: ListPosition): boolean {
  return a.time < b.time || (a.time === b.time && a.id < b.id);
}
