import { MoveError } from './errors.ts';
import type { SqliteDatabase } from './sqlite.ts';
import type { TableMove } from './tables.ts';
import { fromSqlite, type Value } from './values.ts';

export type Row = readonly Value[];

/**
 * Number of rows read at once: few enough that a batch of long rows, such as responses of 16 KiB or logos of
 * 64 KiB, needs little memory (32 MiB).
 */
const batchRows = 500;

export function countOf(database: SqliteDatabase, table: TableMove): number {
  return Number(one(database, `SELECT count(*) FROM ${sourceOf(table)}`));
}

/**
 * Reads the rows of a table in key order, in batches.
 *
 * @param label - name of the table in messages
 */
export function* batchesOf(
  database: SqliteDatabase,
  table: TableMove,
  label: string,
): Generator<readonly Row[]> {
  const columns = Object.entries(table.columns);
  const names = columns.map(([name]) => quoted(name)).join();
  const order = table.key.map((column) => `${quoted(column)} COLLATE BINARY`).join();
  const select = database
    .prepare(`SELECT ${names} FROM ${sourceOf(table)} ORDER BY ${order}`)
    .raw()
    .safeIntegers();
  const read = checkedReader(database, table, label);
  let batch: Row[] = [];
  for (const stored of select.iterate() as IterableIterator<readonly unknown[]>) {
    batch.push(read(stored));
    if (batch.length < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Makes a function that converts a row of SQLite for the move. It throws a `MoveError` that names the row and
 * value if a value cannot be stored.
 */
function checkedReader(
  database: SqliteDatabase,
  table: TableMove,
  label: string,
): (stored: readonly unknown[]) => Row {
  const columns = Object.entries(table.columns);
  const keyPlaces = table.key.map((name) => columns.findIndex(([column]) => column === name));
  const condition = table.key.map((name) => `${quoted(name)} = ?`).join(' AND ');

  /**
   * Checks that a text is stored as valid UTF-8. The driver returns U+FFFD for invalid bytes, so the bytes
   * themselves are read only if a text contains U+FFFD.
   */
  function assertExact(stored: readonly unknown[], column: string, text: string): void {
    if (!text.includes('\uFFFD')) return;
    const select = `SELECT CAST(${quoted(column)} AS BLOB) FROM ${sourceOf(table)} WHERE ${condition}`;
    const bytes = one(database, select, ...keyPlaces.map((place) => stored[place]));
    if (bytes instanceof Uint8Array && Buffer.from(text, 'utf8').equals(bytes)) return;
    throw new MoveError('is not UTF-8 (a lone surrogate, or bytes of something else)');
  }

  return (stored) =>
    columns.map(([column, kind], place) => {
      const value = stored[place];
      try {
        if (typeof value === 'string') assertExact(stored, column, value);
        return fromSqlite(kind, value);
      } catch (error) {
        const key = keyPlaces.map((each) => shown(stored[each])).join(', ');
        const problem = error instanceof Error ? error.message : String(error);
        throw new MoveError(`nothing was moved: table ${label}, row ${key}, column ${column} ${problem}`, {
          cause: error,
        });
      }
    });
}

/** Returns the single value of a query's single row. */
function one(database: SqliteDatabase, sql: string, ...parameters: readonly unknown[]): unknown {
  const row = database
    .prepare(sql)
    .raw()
    .get(...parameters);
  return Array.isArray(row) ? row[0] : undefined;
}

function sourceOf(table: TableMove): string {
  return table.source ?? quoted(table.name);
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Formats the value of a row's key so that an operator can search for it. */
function shown(value: unknown): string {
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
