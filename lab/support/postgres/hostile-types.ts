import { types } from 'pg';

/** OIDs (type ids) of every PostgreSQL type that has a parser in `pg`, text and timestamps included. */
const oids = [...Object.values(types.builtins), 199, 651, 718, 791, ...range(1000, 1045), 1115, 1182, 1183]
  .concat([1185, 1187, 1231, 1270, 2951, 3807, 3907])
  .filter((oid): oid is number => typeof oid === 'number');

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/**
 * Changes `pg.types` for the whole process, so that every value has an unexpected JavaScript type. Returns a
 * function that restores the parsers.
 */
export function overrideTypes(): () => void {
  const before = oids.map((oid) => [oid, types.getTypeParser(oid, 'text')] as const);
  for (const oid of oids) types.setTypeParser(oid, (text) => ({ oid, text }));
  return () => {
    for (const [oid, parser] of before) types.setTypeParser(oid, parser);
  };
}
