/** One line of the table: what was looked at, what it should be, what it was. */
export interface Result {
  readonly name: string;
  readonly found: string;
  readonly holds: boolean;
}

/** Collects lines; every one of them is a check. */
export interface Results {
  readonly rows: readonly Result[];
  add(name: string, found: string, holds: boolean): void;
  /** `found` has to be `wanted`. */
  same(name: string, found: number, wanted: number): void;
}

export function createResults(): Results {
  const rows: Result[] = [];
  const add = (name: string, found: string, holds: boolean): void => void rows.push({ name, found, holds });
  return {
    rows,
    add,
    same: (name, found, wanted) =>
      add(name, found === wanted ? String(found) : `${found} instead of ${wanted}`, found === wanted),
  };
}

/** The table as text. */
export function tableOf({ rows }: Results): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const found = Math.max(...rows.map((row) => row.found.length));
  const line = `+-${'-'.repeat(width)}-+-${'-'.repeat(found)}-+----+`;
  return [
    line,
    ...rows.map(
      (row) => `| ${row.name.padEnd(width)} | ${row.found.padEnd(found)} | ${row.holds ? 'ok' : 'NO'} |`,
    ),
    line,
  ].join('\n');
}

/** Shows the table and ends the process: with 0 when every line holds. */
export function endWith(results: Results): never {
  process.stdout.write(`\n${tableOf(results)}\n`);
  const held = results.rows.every(({ holds }) => holds);
  process.stdout.write(held ? '\nEvery line holds.\n' : '\nNot every line holds.\n');
  // Here and not by itself: what starts PostgreSQL makes 0 of the exit code at the end of a process.
  process.exit(held ? 0 : 1);
}
