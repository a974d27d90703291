import type { AuditPosition, AuditRecord, AuditStore } from '../ports/audit.ts';
import { type Step, StorageUnavailableError } from './step.ts';
import { byCodeUnit, type Tables } from './tables.ts';

export function memoryAudit(step: Step): AuditStore {
  return {
    append: (record) => step((tables) => note(tables, record)),

    list: ({ target, after, limit }) =>
      step((tables) =>
        [...tables.audit.values()]
          .filter((row) => target === null || row.target === target)
          .filter((row) => after === null || byPosition(row, after) > 0)
          .sort(byPosition)
          .slice(0, limit)
          .map(({ details, ...row }) => ({ ...row, details: JSON.parse(details) })),
      ),
  };
}

/** Stores the record of an act with the act; does nothing for one that is not audited. */
export function note({ audit }: Tables, record: AuditRecord | undefined): void {
  if (record === undefined) return;
  if (audit.has(record.id)) throw new StorageUnavailableError('the audit id is taken');
  audit.set(record.id, { ...record, details: JSON.stringify(record.details) });
}

/** Newest first. */
function byPosition(a: AuditPosition, b: AuditPosition): number {
  return b.at - a.at || byCodeUnit(b.id, a.id);
}
