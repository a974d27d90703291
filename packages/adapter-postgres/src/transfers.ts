import type {
  ListPosition,
  Owner,
  TransferRecord,
  TransferStatus,
  TransferStore,
} from '@ostiary/core/storage';
import { type Database, patienceMs } from './database.ts';
import { isOfTheData } from './errors.ts';
import { inGroups } from './groups.ts';
import { claimRowOf, postgresClaims } from './idempotency.ts';
import { postgresPublications } from './publications.ts';
import { jobRowOf, postgresJobs } from './queue.ts';
import { writeOrRollBack } from './rollback.ts';
import { prepared, statement } from './statement.ts';

/** An amount is written as the integer that it is, and read as text: neither way leads through a double. */
type TransferRow = Omit<TransferRecord, 'amount' | 'metadata' | 'failure'> & {
  readonly metadata: string | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
};
type NewTransferRow = TransferRow & { readonly amount: bigint };
type StoredTransferRow = TransferRow & { readonly amount: string };
type Settlement = Parameters<TransferStore['settle']>[0];
type Settled = Awaited<ReturnType<TransferStore['settle']>>;
/** Settlements of different transfers; the arrays belong together. */
interface Settlements {
  readonly ids: readonly string[];
  readonly statuses: readonly string[];
  readonly codes: readonly (string | null)[];
  readonly messages: readonly (string | null)[];
  readonly times: readonly number[];
}

/** From `from` on, before the position, newest first. */
type Page = Owner & ListPosition & { readonly from: number; readonly limit: number };
/** After the position, before `to`, oldest first. */
type FinalPage = Owner & ListPosition & { readonly to: number; readonly limit: number };

const columns = `
  id, partner, mode, status, amount::text AS amount, currency, recipient_kid AS "recipientKid",
  description, reference, metadata, failure_code AS "failureCode", failure_message AS "failureMessage",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt"
`;

function statementsIn(schema: string) {
  const within = `
    partner = :partner AND mode = :mode AND created_at >= :from AND (created_at, id) < (:time, :id)
  `;
  return {
    // Waits for a transfer with this reference that is just being stored. A taken id is an error all the same.
    insert: prepared<NewTransferRow>(`
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

    findReference: prepared<Owner & { reference: string | null }, { readonly id: string }>(`
      SELECT id FROM ${schema}.transfers
      WHERE partner = :partner AND mode = :mode AND reference = :reference
    `),

    find: prepared<Owner & { id: string }, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers WHERE id = :id AND partner = :partner AND mode = :mode
    `),

    findById: prepared<{ id: string }, StoredTransferRow>(`
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

    // Of what is looked up by `= ANY` PostgreSQL uses the index, whatever it thinks of the size of the table.
    settle: statement<Settlements, StoredTransferRow>(`
      UPDATE ${schema}.transfers SET
        status = final.outcome, failure_code = final.code, failure_message = final.message, updated_at = final.time,
        completed_at = CASE final.outcome WHEN 'completed' THEN final.time END
      FROM unnest(:ids::text[], :statuses::text[], :codes::text[], :messages::text[], :times::bigint[])
        AS final (transfer_id, outcome, code, message, time)
      WHERE id = ANY (:ids) AND id = final.transfer_id AND status = 'pending'
      RETURNING ${columns}
    `),

    findAll: statement<{ ids: readonly string[] }, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers WHERE id = ANY (:ids)
    `),

    listFinal: statement<FinalPage, StoredTransferRow>(`
      SELECT ${columns} FROM ${schema}.transfers
      WHERE partner = :partner AND mode = :mode AND status <> 'pending'
        AND (updated_at, id) > (:time, :id) AND updated_at < :to
      ORDER BY updated_at, id LIMIT :limit
    `),
  };
}

/** Makes transfers final. What is under way at the same time for one partner and mode becomes one transaction. */
function postgresSettlements(
  database: Database,
): (settlement: Settlement) => Promise<PromiseSettledResult<Settled>> {
  const publications = postgresPublications(database);
  const sql = statementsIn(database.schema);

  /** In one transaction. A transfer that several of these settle belongs to the first of them. */
  async function settleAll(group: readonly Settlement[], patience: number): Promise<Settled[]> {
    const first = new Map<string, Settlement>();
    for (const settlement of group) if (!first.has(settlement.id)) first.set(settlement.id, settlement);
    const all = settlementsOf([...first.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    return database.write(async (connection) => {
      const settled = new Map((await sql.settle.all(connection, all)).map((row) => [row.id, row]));
      const isSettled = (one: Settlement) => settled.has(one.id) && first.get(one.id) === one;
      const events = group.filter(isSettled).map(({ event }) => event);
      await publications.publish(connection, events);
      const ids = all.ids.filter((id) => !settled.has(id));
      const rows = ids.length === 0 ? [] : await sql.findAll.all(connection, { ids });
      const found = new Map([...settled.values(), ...rows].map((row) => [row.id, row]));
      return group.map((one) => {
        const row = found.get(one.id);
        return row === undefined ? null : { transfer: transferOf(row), settled: isSettled(one) };
      });
    }, patience);
  }

  // Events of a partner and mode are published one transaction after the other. Settlements that would wait for each
  // other in this process take one transaction together; if one of them cannot be stored, it is no fault of the others.
  return inGroups(
    ({ event }: Settlement) => `${event.partner} ${event.mode}`,
    async (group: readonly Settlement[], waitedMs: number): Promise<PromiseSettledResult<Settled>[]> => {
      try {
        const answers = await settleAll(group, Math.max(1, patienceMs - waitedMs));
        return answers.map((value) => ({ status: 'fulfilled', value }));
      } catch (error) {
        if (!isOfTheData(error)) throw error;
        if (group.length === 1) return [{ status: 'rejected', reason: error }];
        return Promise.allSettled(group.map(async (one) => (await settleAll([one], patienceMs))[0] ?? null));
      }
    },
  );
}

export function postgresTransfers(database: Database): TransferStore {
  const claims = postgresClaims(database);
  const jobs = postgresJobs(database);
  const settle = postgresSettlements(database);
  const sql = statementsIn(database.schema);

  return {
    async create({ transfer, idempotency, job, now }) {
      const row = rowOf(transfer);
      const claim = idempotency && claimRowOf(idempotency);
      const jobRow = jobRowOf(job);
      return writeOrRollBack(database, claim, async (connection, rollBack) => {
        const earlier = claim && (await claims.take(connection, { ...claim, now }, rollBack));
        if (earlier !== null) return earlier;
        if ((await sql.insert.run(connection, row)) === 0) {
          const taken = await sql.findReference.get(connection, row);
          return rollBack({ outcome: 'reference_conflict', transferId: taken?.id ?? '' });
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

    async settle(settlement) {
      const settled = await settle({ ...settlement, event: { ...settlement.event } });
      if (settled.status === 'rejected') throw settled.reason;
      return settled.value;
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
function startOf(time: number): ListPosition {
  return { time, id: '' };
}

function isBefore(a: ListPosition, b: ListPosition): boolean {
  return a.time < b.time || (a.time === b.time && a.id < b.id);
}

function settlementsOf(settlements: readonly Settlement[]): Settlements {
  return {
    ids: settlements.map(({ id }) => id),
    statuses: settlements.map(({ status }) => status),
    codes: settlements.map(({ failure }) => failure?.code ?? null),
    messages: settlements.map(({ failure }) => failure?.message ?? null),
    times: settlements.map(({ now }) => now),
  };
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
