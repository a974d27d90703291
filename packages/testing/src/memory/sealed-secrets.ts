import type { SealedSecrets } from '@ostiary/core/storage';
import type { Step } from './step.ts';
import { byCodeUnit, type Tables } from './tables.ts';

/** Secrets of one table. `sealedOf` reads the sealed one of a row, `withSealed` makes the row that has another one. */
export function memorySealedSecrets<Row extends object>(
  step: Step,
  {
    rowsOf,
    sealedOf,
    withSealed,
  }: {
    readonly rowsOf: (tables: Tables) => Map<string, Row>;
    readonly sealedOf: (row: Row) => string;
    readonly withSealed: (row: Row, sealed: string) => Row;
  },
): SealedSecrets {
  return {
    listSealed: ({ after, limit }) =>
      step((tables) =>
        [...rowsOf(tables)]
          .filter(([id]) => after === null || id > after)
          .sort(([a], [b]) => byCodeUnit(a, b))
          .slice(0, limit)
          .map(([id, row]) => ({ id, sealed: sealedOf(row) })),
      ),

    reseal: (secrets) =>
      step((tables) => {
        const rows = rowsOf(tables);
        let replaced = 0;
        for (const { id, before, sealed } of secrets) {
          const row = rows.get(id);
          if (row === undefined || sealedOf(row) !== before) continue;
          rows.set(id, withSealed(row, sealed));
          replaced += 1;
        }
        return replaced;
      }),
  };
}
