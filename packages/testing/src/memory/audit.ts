import { createHash } from 'node:crypto';
import type { AuditRecord, AuditStore, ChainedAct, ListPosition } from '@ostiary/core/storage';
import { type Step, StorageUnavailableError } from './step.ts';
import { type AuditRow, byCodeUnit, type Tables } from './tables.ts';

export function memoryAudit(step: Step): AuditStore {
  return {
    append: (record) => step((tables) => note(tables, record)),

    list: ({ target, after, limit }) =>
      step((tables) =>
        [...tables.audit.values()]
          .filter((row) => target === null || row.target === target)
          .filter((row) => after === null || newestFirst(positionOf(row), after) > 0)
          .sort((a, b) => newestFirst(positionOf(a), positionOf(b)))
          .slice(0, limit)
          .map(({ number: _, chain: __, ...act }) => ({ ...act, details: JSON.parse(act.details) })),
      ),

    head: () => step((tables) => ({ ...end(tables), before: 0, outside: 0 })),

    chain: ({ after, limit }) =>
      step((tables) =>
        [...tables.audit.values()]
          .slice(after, after + limit)
          .map((row) => ({ ...row, chain: Uint8Array.from(row.chain), details: JSON.parse(row.details) })),
      ),
  };
}

/** The last act's place in the chain. */
function end({ audit }: Tables): Pick<ChainedAct, 'number' | 'chain'> {
  const last = [...audit.values()].at(-1);
  return { number: last?.number ?? 0, chain: Uint8Array.from(last?.chain ?? new Uint8Array(32)) };
}

/** Stores the record of an act with the act; does nothing for one that is not audited. */
export function note(tables: Tables, record: AuditRecord | undefined): void {
  if (record === undefined) return;
  const { digest, ...act } = record;
  if (tables.audit.has(act.id)) throw new StorageUnavailableError('the audit id is taken');
  const last = end(tables);
  const chain = createHash('sha256').update(last.chain).update(digest).digest();
  tables.audit.set(act.id, { ...act, details: JSON.stringify(act.details), number: last.number + 1, chain });
}

const positionOf = ({ at, id }: AuditRow): ListPosition => ({ time: at, id });

function newestFirst(a: ListPosition, b: ListPosition): number {
  return b.time - a.time || byCodeUnit(b.id, a.id);
}
