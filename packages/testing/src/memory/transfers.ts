import type { ListPosition, Owner, TransferRecord, TransferStore } from '@ostiary/core/storage';
import { outcomeOf, storeClaim } from './idempotency.ts';
import { publish } from './publications.ts';
import { jobRowOf, storeJob } from './queue.ts';
import { type Step, StorageUnavailableError } from './step.ts';
import { byCodeUnit, isOwned, ownedKey, type Tables, type TransferRow } from './tables.ts';

export function memoryTransfers(step: Step): TransferStore {
  return {
    create: ({ transfer, idempotency, job, now }) =>
      step((tables) => {
        const earlier = idempotency && outcomeOf(tables, idempotency, now);
        if (earlier !== null) return earlier;
        const reference = transfer.reference === null ? null : ownedKey(transfer, transfer.reference);
        const transferId = reference === null ? undefined : tables.references.get(reference);
        if (transferId !== undefined) return { outcome: 'reference_conflict', transferId };
        if (tables.transfers.has(transfer.id)) throw new StorageUnavailableError('the transfer id is taken');
        // All texts first: when one of them is no JSON, nothing is stored.
        const [row, jobRow] = [rowOf(transfer), jobRowOf(job)];
        tables.transfers.set(row.id, row);
        if (reference !== null) tables.references.set(reference, row.id);
        if (idempotency !== null) storeClaim(tables, idempotency);
        storeJob(tables, jobRow);
        return { outcome: 'created' };
      }),

    find: (owner, id) =>
      step((tables) => {
        const row = tables.transfers.get(id);
        return row !== undefined && isOwned(row, owner) ? transferOf(row) : null;
      }),

    findById: (id) =>
      step((tables) => {
        const row = tables.transfers.get(id);
        return row === undefined ? null : transferOf(row);
      }),

    list: ({ partner, mode, status, reference, from, to, after, limit }) =>
      step((tables) =>
        owned(tables, { partner, mode })
          .filter((row) => status === null || row.status === status)
          .filter((row) => reference === null || row.reference === reference)
          .filter((row) => (from === null || row.createdAt >= from) && (to === null || row.createdAt < to))
          .filter((row) => after === null || byPosition(createdPosition(row), after) < 0)
          .sort((a, b) => byPosition(createdPosition(b), createdPosition(a)))
          .slice(0, limit)
          .map(transferOf),
      ),

    settle: ({ id, status, failure, event, now }) =>
      step((tables) => {
        const row = tables.transfers.get(id);
        if (row === undefined) return null;
        if (row.status !== 'pending') return { transfer: transferOf(row), settled: false };
        // The event first: when it cannot be stored, the transfer must stay pending.
        publish(tables, [event]);
        const completedAt = status === 'completed' ? now : null;
        const final = { ...row, status, failure: failure && { ...failure }, updatedAt: now, completedAt };
        tables.transfers.set(id, final);
        return { transfer: transferOf(final), settled: true };
      }),

    listFinal: ({ partner, mode, from, to, after, limit }) =>
      step((tables) =>
        owned(tables, { partner, mode })
          .filter((row) => row.status !== 'pending' && row.updatedAt >= from && row.updatedAt < to)
          .filter((row) => after === null || byPosition(updatedPosition(row), after) > 0)
          .sort((a, b) => byPosition(updatedPosition(a), updatedPosition(b)))
          .slice(0, limit)
          .map(transferOf),
      ),
  };
}

function owned({ transfers }: Tables, owner: Owner): TransferRow[] {
  return [...transfers.values()].filter((row) => isOwned(row, owner));
}

const createdPosition = ({ createdAt, id }: TransferRow): ListPosition => ({ time: createdAt, id });
const updatedPosition = ({ updatedAt, id }: TransferRow): ListPosition => ({ time: updatedAt, id });

function byPosition(a: ListPosition, b: ListPosition): number {
  return a.time - b.time || byCodeUnit(a.id, b.id);
}

function rowOf(transfer: TransferRecord): TransferRow {
  const { metadata, failure } = transfer;
  return {
    ...transfer,
    failure: failure && { ...failure },
    metadata: metadata === null ? null : JSON.stringify(metadata),
  };
}

function transferOf(row: TransferRow): TransferRecord {
  const { metadata, failure } = row;
  return {
    ...row,
    failure: failure && { ...failure },
    metadata: metadata === null ? null : JSON.parse(metadata),
  };
}
