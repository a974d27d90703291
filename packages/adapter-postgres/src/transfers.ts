import type {
  TransferOwner,
  TransferPosition,
  TransferRecord,
  TransferStatus,
  TransferStore,
} from '@ostiary/core';
import type { Database } from './database.ts';
import { claimRowOf, postgresClaims } from './idempotency.ts';
import { postgresPublications } from './publications.ts';
import { jobRowOf, postgresJobs } from './queue.ts';
import { statement } from './statement.ts';
import { writeOrUndo } from './undo.ts';

/** An amount is written as the integer that it is, and read as text: neither way leads through a double. */
type TransferRow = Omit<TransferRecord, 'amount' | 'metadata' | 'failure'> & {
  readonly metadata: string | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
};
type NewTransferRow = TransferRow & { readonly amount: bigint };
type StoredTransferRow = TransferRow & { readonly amount: string };
type Settlement = Pick<TransferRow, 'id' | 'status' | 'failureCode' | 'failureMessage' | 'completedAt'> & {
  readonly now: number;
};

/** From `from` on, before the position, newest first. */
type Page = TransferOwner & TransferPosition & { readonly from: number; readonly limit: number };
/** After the position, before `to`, oldest first. */
type FinalPage = TransferOwner & TransferPosition & { readonly to: number; readonly limit: number };

const columns = `
  id, partner, mode, status, amount::text AS amount, currency, recipient_kid AS "recipientKid",
  description, reference, metadata, failure_code AS "failureCode", failure_message AS "failureMessage",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt"
`;

export function postgresTransfers(database: Database): TransferStore {
  const claims = postgresClaims(database);
  const jobs = postgresJobs(database);
  const publications = postgresPublications(database);
  const { schema } = database;
  const within = `
    partner = :partner AND mode = :mode AND created_at >= :from AND (created_at, id) < (:time, :id)
  `;
  const sql = {
    // Waits for a transfer with this reference that is just being stored. A taken id is an error all the same.
    insert: statement<NewTransferRow>(`
      INSERT INTO ${schema}.transfers (
        id, partner, mode, status, amount, currency, recipient_kid, description, reference, metadata,
        failure_code, failure_message, created_at, updated_at, completed_at
      )
      VALUES (
        :id, :partner, :mode, :status, :amount, :currency, :recipientKid, :description, :reference, :metadata,
        :failureCode, :failureMessage, :createdAt, :updatedAt, :completedAt
      )
      ON CONFLICT (partner, mode, reference) WHERE reference IS NOT NULL DO NOTHING
    `),

    findReference: statement<TransferOwner & { reference: string | null }, { readonly id: string }>(`
      SELECT id FROM ${schema}.transfers
      WHERE partner = :partner AND mode = :mode AND reference = :reference
    `),

    find: statement<TransferOwner & { id: string }, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: statement<{ id: string }, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers WHERE id = :id
    `),

    list: statement<Page, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers
      WHERE ${within}
      ORDER BY created_at DESC, id DESC LIMIT :limit
    `),

    listWithStatus: statement<Page & { status: TransferStatus }, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers
      WHERE ${within} AND status = :status
      ORDER BY created_at DESC, id DESC LIMIT :limit
    `),

    // One row at most, so there is nothing to sort.
    listWithReference: statement<
      Page & { reference: string; status: TransferStatus | null },
      StoredTransferRow
    >(`
      SELECT ${columns} FROM ${schema}.transfers
      WHERE ${within} AND reference = :reference AND (:status::text IS NULL OR status = :status)
      LIMIT :limit
    `),

    settle: statement<Settlement, StoredTransferRow>(`
      UPDATE ${schema}.transfers SET
        status = :status, failure_code = :failureCode, failure_message = :failureMessage, updated_at = :now,
        completed_at = :completedAt
      WHERE id = :id AND status = 'pending'
      RETURNING ${columns}
    `),

    listFinal: statement<FinalPage, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers
      WHERE partner = :partner AND mode = :mode AND status <> 'pending'
        AND (updated_at, id) > (:time, :id) AND updated_at < :to
      ORDER BY updated_at, id LIMIT :limit
    `),
  };

  return {
    async create({ transfer, idempotency, job, now }) {
      const row = rowOf(transfer);
      const claim = idempotency && claimRowOf(idempotency);
      const jobRow = jobRowOf(job);
      return writeOrUndo(database, claim, async (connection, undo) => {
        const earlier = claim && (await claims.take(connection, { ...claim, now }, undo));
        if (earlier !== null) return earlier;
        if ((await sql.insert.run(connection, row)) === 0) {
          const taken = await sql.findReference.get(connection, row);
          return undo({ outcome: 'reference_conflict', transferId: taken?.id ?? '' });
        }
        await jobs.store(connection, [jobRow]);
        return { outcome: 'created' };
      });
    },

    find: ({ partner, mode }, id) =>
      database.read(async (connection) => {
        const row = await sql.find.get(connection, { partner, mode, id });
        return row === undefined ? null : transferOf(row);
      }),

    findById: (id) =>
      database.read(async (connection) => {
        const row = await sql.findById.get(connection, { id });
        return row === undefined ? null : transferOf(row);
      }),

    list: ({ partner, mode, status, reference, from, to, after, limit }) => {
      const end = startOf(to ?? Number.MAX_SAFE_INTEGER);
      const before = after !== null && isBefore(after, end) ? after : end;
      const page = { partner, mode, from: from ?? Number.MIN_SAFE_INTEGER, ...before, limit };
      return database.read(async (connection) => {
        if (reference !== null) {
          const request = { ...page, reference, status };
          return (await sql.listWithReference.all(connection, request)).map(transferOf);
        }
        const rows =
          status === null
            ? sql.list.all(connection, page)
            : sql.listWithStatus.all(connection, { ...page, status });
        return (await rows).map(transferOf);
      });
    },

    async settle({ id, status, failure, event, now }) {
      const completedAt = status === 'completed' ? now : null;
      const final = { id, status, ...failureColumns(failure), completedAt, now };
      const published = { ...event };
      return database.write(async (connection) => {
        const settled = await sql.settle.get(connection, final);
        if (settled !== undefined) {
          await publications.publish(connection, [published]);
          return { transfer: transferOf(settled), settled: true };
        }
        const row = await sql.findById.get(connection, { id });
        return row === undefined ? null : { transfer: transferOf(row), settled: false };
      });
    },

    listFinal: ({ partner, mode, from, to, after, limit }) => {
      const start = startOf(from);
      const past = after !== null && isBefore(start, after) ? after : start;
      const page = { partner, mode, time: past.time, id: past.id, to, limit };
      return database.read(async (connection) => (await sql.listFinal.all(connection, page)).map(transferOf));
    },
  };
}

/** Before every transfer of this time: no id is empty. One bound less for the index to know. */
function startOf(time: number): TransferPosition {
  return { time, id: '' };
}

function isBefore(a: TransferPosition, b: TransferPosition): boolean {
  return a.time < b.time || (a.time === b.time && a.id < b.id);
}

function failureColumns(
  failure: TransferRecord['failure'],
): Pick<TransferRow, 'failureCode' | 'failureMessage'> {
  return { failureCode: failure?.code ?? null, failureMessage: failure?.message ?? null };
}

function rowOf({ metadata, failure, ...transfer }: TransferRecord): NewTransferRow {
  return {
    ...transfer,
    ...failureColumns(failure),
    metadata: metadata === null ? null : JSON.stringify(metadata),
  };
}

/** Field by field: an export does this for every row, and a copy that leaves fields out takes twice as long. */
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
