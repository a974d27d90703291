import type { ListPosition, Owner, Quota, TransferRecord, TransferStore } from '@ostiary/core/storage';
import { batchCalls } from './batching.ts';
import type { Database } from './database.ts';
import { isDataError } from './errors.ts';
import { nameOf } from './event-owners.ts';
import { lookup, statement } from './statement.ts';
import { lockTimeoutLeft, lockTimeoutOf, longTimeoutMs, timeoutLeft } from './timeouts.ts';
import { postgresTransferCreation } from './transfer-creation.ts';

/**
 * A transfer as it is stored. The amount is written as an integer and read as text, so that it never becomes
 * a double.
 */
type TransferRow = Omit<TransferRecord, 'amount' | 'metadata' | 'failure'> & {
  readonly metadata: string | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
};
type StoredTransferRow = TransferRow & { readonly amount: string };
type Settlement = Parameters<TransferStore['settle']>[0];
type Settled = Awaited<ReturnType<TransferStore['settle']>>;
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

const columns = `
  id, partner, mode, status, amount::text AS amount, currency, recipient_kid AS "recipientKid",
  description, reference, metadata, failure_code AS "failureCode", failure_message AS "failureMessage",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt"
`;

/** Selects the transfers of one partner in one mode. `time` is how the indexes of a partner contain the time. */
const ofPartner = { owner: 'partner = :partner AND mode = :mode', time: 'created_at' } as const;

/** Selects the transfers of all partners in one mode. Only the index of all partners contains the sum. */
const ofAll = { owner: 'mode = :mode', time: 'created_at + 0' } as const;

/** Creates the statements that list and count transfers of one partner or of all partners. */
function listsIn(schema: string, { owner, time }: typeof ofPartner | typeof ofAll) {
  const newestFirst = {
    within: `${time} >= :bound AND (${time}, id) < (:time, :id)`,
    order: `ORDER BY ${time} DESC, id DESC`,
  };
  const oldestFirst = {
    within: `(${time}, id) > (:time, :id) AND ${time} < :bound`,
    order: `ORDER BY ${time}, id`,
  };
  // Planned with the actual parameters, so that a filter of `null` costs nothing.
  const list = (within: string, sorted: string) =>
    statement<Page, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers
      WHERE ${owner} AND ${within} AND (:status::text IS NULL OR status = :status)
      ${sorted} LIMIT :limit
    `);
  const pages = ({ within, order }: typeof newestFirst) => ({
    all: list(within, order),
    // A partner has at most one transfer with a reference, so nothing needs to be sorted.
    withReference: list(`${within} AND reference = :reference`, owner === ofPartner.owner ? '' : order),
  });
  return {
    newestFirst: pages(newestFirst),
    oldestFirst: pages(oldestFirst),

    count: statement<
      Omit<CountRequest, 'from' | 'to'> & { from: number; to: number },
      { readonly count: number }
    >(`
      SELECT count(*) AS count FROM (
        SELECT FROM ${schema}.transfers
        WHERE ${owner} AND ${time} >= :from AND ${time} < :to
          AND (:status::text IS NULL OR status = :status)
          AND (:reference::text IS NULL OR reference = :reference)
        ORDER BY ${time} DESC LIMIT :most
      ) AS counted
    `),
  };
}

function statementsIn(schema: string) {
  return {
    find: lookup<Owner & { id: string }, StoredTransferRow>(
      { partner: 'text', mode: 'text', id: 'text' },
      `
      SELECT ${columns} FROM ${schema}.transfers WHERE id = :id AND partner = :partner AND mode = :mode
    `,
    ),

    findById: lookup<{ id: string }, StoredTransferRow>(
      { id: 'text' },
      `
      SELECT ${columns} FROM ${schema}.transfers WHERE id = :id
    `,
    ),

    ofPartner: listsIn(schema, ofPartner),
    ofAll: listsIn(schema, ofAll),

    settle: statement<
      { readonly settlements: string; readonly lockTimeout: string },
      StoredTransferRow & { readonly isSettled: boolean }
    >(`
      SELECT is_settled AS "isSettled", ${columns}
      FROM ${schema}.settle_transfers(:settlements, :lockTimeout) AS answer
      CROSS JOIN LATERAL (SELECT (answer.transfer).*) AS transfer
    `),

    listFinal: statement<FinalPage, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers
      WHERE partner = :partner AND mode = :mode AND status <> 'pending'
        AND (updated_at, id) > (:time, :id) AND updated_at < :to
      ORDER BY updated_at, id LIMIT :limit
    `),

    removeOldest: statement<Owner & Quota & { before: number; limit: number }>(`
      DELETE FROM ${schema}.transfers WHERE id = ANY (ARRAY (
        SELECT id FROM ${schema}.transfers WHERE id IN (
          SELECT id FROM (
            SELECT id, created_at, row_number() OVER newest AS rows, sum(
              coalesce(octet_length(description), 0) + coalesce(octet_length(reference), 0)
                + coalesce(octet_length(metadata), 0)
            ) OVER newest AS bytes
            FROM ${schema}.transfers WHERE partner = :partner AND mode = :mode
            WINDOW newest AS (ORDER BY created_at DESC, id DESC ROWS UNBOUNDED PRECEDING)
          ) AS counted
          WHERE created_at < :before OR rows > :rows OR bytes > :bytes
          ORDER BY created_at, id LIMIT :limit
        )
        FOR UPDATE SKIP LOCKED
      ))
    `),
  };
}

/**
 * Creates the function that makes transfers final. Concurrent settlements of one partner and mode share a
 * transaction.
 */
function postgresSettlements(database: Database): (settlement: Settlement) => Promise<Settled> {
  const { settle } = statementsIn(database.schema);

  // Events of a partner and mode are published one transaction after the other, so settlements that would
  // wait for each other share one.
  return batchCalls<Settlement, Settled>({
    keyOf: ({ event }) => nameOf(event),
    mayRetryAlone: isDataError,
    async make(group, waitedMs) {
      // If several calls settle one transfer, the first one does.
      const first = new Map<string, Settlement>();
      for (const settlement of group) if (!first.has(settlement.id)) first.set(settlement.id, settlement);
      const settlements = JSON.stringify([...first.values()].map(settlementRowOf));
      const lockTimeout = lockTimeoutOf(false, lockTimeoutLeft(waitedMs));
      const rows = await database.change(
        (connection) => settle.all(connection, { settlements, lockTimeout }),
        timeoutLeft(waitedMs),
      );
      const found = new Map(rows.map((row) => [row.id, row]));
      return group.map((one) => {
        const row = found.get(one.id);
        if (row === undefined) return null;
        return { transfer: transferOf(row), settled: row.isSettled && first.get(one.id) === one };
      });
    },
  });
}

export function postgresTransfers(database: Database): TransferStore {
  const create = postgresTransferCreation(database);
  const settle = postgresSettlements(database);
  const sql = statementsIn(database.schema);

  return {
    create,

    async find({ partner, mode }, id) {
      const row = await database.get(sql.find, { partner, mode, id });
      return row && transferOf(row);
    },

    async findById(id) {
      const row = await database.get(sql.findById, { id });
      return row && transferOf(row);
    },

    async list(request) {
      const { partner, mode, status, reference, limit, oldestFirst = false } = request;
      const lists = partner === null ? sql.ofAll : sql.ofPartner;
      const { all, withReference } = oldestFirst ? lists.oldestFirst : lists.newestFirst;
      const page = { partner, mode, status, reference, ...endsOf(request), limit };
      const rows = await database.all(reference === null ? all : withReference, page);
      return rows.map(transferOf);
    },

    async count({ partner, mode, status, reference, from, to, most }) {
      const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
      const { count } = partner === null ? sql.ofAll : sql.ofPartner;
      const row = await database.get(count, { partner, mode, status, reference, ...range, most });
      return row?.count ?? 0;
    },

    // Copy the arguments, because the caller may change them while the call waits.
    settle: ({ event, failure, ...settlement }) =>
      settle({ ...settlement, event: { ...event }, failure: failure && { ...failure } }),

    async listFinal({ partner, mode, from, to, after, limit }) {
      const start = startOf(from);
      const past = after !== null && isBefore(start, after) ? after : start;
      const page = { partner, mode, time: past.time, id: past.id, to, limit };
      return (await database.all(sql.listFinal, page)).map(transferOf);
    },

    removeOldest: ({ partner, mode, rows, bytes, before, limit }) =>
      database.change(
        (connection) => sql.removeOldest.run(connection, { partner, mode, rows, bytes, before, limit }),
        longTimeoutMs,
      ),
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

function settlementRowOf({ id, status, failure, now, event }: Settlement) {
  return { transferId: id, outcome: status, code: failure?.code, message: failure?.message, now, event };
}

/**
 * Converts a stored row to a transfer, member by member: copying the rest of a row makes an export a tenth
 * slower.
 */
function transferOf(row: StoredTransferRow): TransferRecord {
  const { metadata, failureCode, failureMessage } = row;
  return {
    id: row.id,
    partner: row.partner,
    mode: row.mode,
    status: row.status,
    amount: BigInt(row.amount),
    currency: row.currency,
    recipientKid: row.recipientKid,
    description: row.description,
    reference: row.reference,
    metadata: metadata === null ? null : JSON.parse(metadata),
    failure: failureCode === null ? null : { code: failureCode, message: failureMessage ?? '' },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    completedAt: row.completedAt,
  };
}
