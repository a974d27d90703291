import { MoveError } from './errors.ts';

/**
 * Type of a column. In SQLite a boolean is 0 or 1 and a list is a JSON array of text. In PostgreSQL they are
 * `boolean` and `text[]`. JSON is text in both and is copied character by character.
 */
export type ColumnKind = 'integer' | 'text' | 'bytes' | 'boolean' | 'list';

/**
 * A value on its way between the databases. Integers are decimal digits, because a double could lose
 * precision.
 */
export type Value = string | boolean | Uint8Array | readonly string[] | null;

/** PostgreSQL array type of the parameter that carries a column of many rows. */
export const parameterTypes: Readonly<Record<ColumnKind, string>> = {
  integer: 'bigint[]',
  text: 'text[]',
  bytes: 'bytea[]',
  boolean: 'boolean[]',
  // Lists of different lengths cannot form an array of arrays, so each is sent as a literal and cast.
  list: 'text[]',
};

/** Returns the SQL expression that inserts a column from its array parameter. */
export function inserted(column: string, kind: ColumnKind): string {
  return kind === 'list' ? `${column}::text[]` : column;
}

/** Converts a value read from SQLite. @throws MoveError without table and row, which `batchesOf` adds */
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

/** Converts a value to a parameter for the driver. */
export function toPostgres(value: Value): unknown {
  if (!Array.isArray(value)) return value;
  const quoted = value.map((text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join()}}`;
}

/** Formats a row as one line of JSON, the input of digests on both sides. */
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

/**
 * Checks that a text can be stored: PostgreSQL cannot store U+0000, and UTF-8 cannot encode a lone surrogate.
 * @throws MoveError
 */
function storable(text: string): string {
  if (text.includes('\0')) throw new MoveError('holds U+0000, which PostgreSQL cannot store');
  if (!text.isWellFormed()) throw new MoveError('holds a lone surrogate, which PostgreSQL cannot store');
  return text;
}
