/** The table of what was looked at: every line is a check. */
export class Results {
  readonly #rows: { readonly name: string; readonly found: string; readonly holds: boolean }[] = [];

  add(name: string, found: string, holds: boolean): void {
    this.#rows.push({ name, found, holds });
  }

  /** `found` has to be `wanted`. */
  same(name: string, found: number, wanted: number): void {
    this.add(name, found === wanted ? `${found}` : `${found} instead of ${wanted}`, found === wanted);
  }

  /** Every one of them has to be `wanted`. */
  all(name: string, found: readonly (number | null)[], wanted: number): void {
    this.add(
      name,
      found.join(', '),
      found.every((one) => one === wanted),
    );
  }

  /** Shows the table and ends the process: with 0 when every line holds. */
  end(): never {
    const width = Math.max(...this.#rows.map(({ name }) => name.length));
    const foundWidth = Math.max(...this.#rows.map(({ found }) => found.length));
    const line = `+-${'-'.repeat(width)}-+-${'-'.repeat(foundWidth)}-+----+\n`;
    const rows = this.#rows.map(
      ({ name, found, holds }) =>
        `| ${name.padEnd(width)} | ${found.padEnd(foundWidth)} | ${holds ? 'ok' : 'NO'} |\n`,
    );
    const held = this.#rows.every(({ holds }) => holds);
    process.stdout.write(`\n${line}${rows.join('')}${line}\n${held ? 'Every' : 'Not every'} line holds.\n`);
    // Here and not by itself: what starts PostgreSQL makes 0 of the exit code at the end of a process.
    process.exit(held ? 0 : 1);
  }
}
