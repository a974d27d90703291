import { MoveError } from './errors.ts';

/**
 * Type of a column. In SQLite a boolean is 0 or 1 and a list is a JSON array of text. In PostgreSQL they are
 * `boolean` and `text[]`. JSON is text on both sides, and stays the same character by character.
 */
export type ColumnKind = 'integer' | 'text' | 'bytes' | 'boolean' | 'list';

/** A value between the two databases. Integers are decimal digits: there is no double on the way. */
export type Value = string | boolean | Uint8Array | readonly string[] | null;

/** Type of the array parameter with which PostgreSQL gets a column of many rows. */
export const parameterTypes: Readonly<Record<ColumnKind, string>> = {
  integer: 'bigint[]',
  text: 'text[]',
  bytes: 'bytea[]',
  boolean: 'boolean[]',
  // Rows have lists of different lengths, which no array of arrays can be: each comes as a literal and is cast.
  list: 'text[]',
};

/** Expression in an `INSERT` for a column of these arrays. */
export function inserted(column: string, kind: ColumnKind): string {
  return kind === 'list' ? `${column}::text[]` : column;
}

/** @throws MoveError without the place; see {@link placed} */
export function fromSqlite(kind: ColumnKind, value: unknown): Value {
  if (value === null) return null;
  switch (kind) {
    case 'integer':
      if (typeof value === 'bigint') return value.toString();
      break;
    case 'text':
      if (typeof value === 'string') return storable(value);
      break;
    case 'bytes':
      if (value instanceof Uint8Array) return value;
      break;
    case 'boolean':
      if (value === 0n || value === 1n) return value === 1n;
      break;
    case 'list':
      if (typeof value === 'string') return listOf(value);
  }
  throw new MoveError(`is no ${kind}`);
}

/** Value of a parameter for the driver. */
export function toPostgres(value: Value): unknown {
  if (!Array.isArray(value)) return value;
  const quoted = value.map((text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join()}}`;
}

/** A row as one line of JSON: what digests are made of, on both sides. */
export function lineOf(row: readonly Value[]): string {
  const shown = row.map((value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  );
  return `${JSON.stringify(shown)}\n`;
}

function listOf(json: string): readonly string[] {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) throw new MoveError('is no list');
  return list.map((text: unknown) => {
    if (typeof text !== 'string') throw new MoveError('is no list of text');
    return storable(text);
  });
}

/** PostgreSQL has no room for U+0000 in text, and UTF-8 none for half a pair of surrogates. */
function storable(text: string): string {
  if (text.includes('\0')) throw new MoveError('holds U+0000, which PostgreSQL cannot store');
  if (!text.isWellFormed()) throw new MoveError('holds a lone surrogate, which PostgreSQL cannot store');
  return text;
}
