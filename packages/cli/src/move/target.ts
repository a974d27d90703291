import { type PostgresClient, postgresTypes } from '@ostiary/adapter-postgres';
import { MoveError } from './errors.ts';
import { quoted, type Row } from './source.ts';
import type { TableMove } from './tables.ts';
import { inserted, parameterTypes, toPostgres, type Value } from './values.ts';

/** A table to move and its place on PostgreSQL. */
export interface Target {
  readonly table: TableMove;
  /** Name of the table for SQL statements: with the schema, quoted. */
  readonly name: string;
  /** Name of the table for messages. */
  readonly label: string;
}

/** Number of rows that are read back in one query. */
const pageRows = 1000;

export function targetIn(schema: string, table: TableMove, label: string): Target {
  return { table, name: `${quoted(schema)}.${quoted(table.name)}`, label };
}

/**
 * Locks the PostgreSQL tables against writes until the end of the transaction. Throws if a table has rows.
 */
export async function takeEmpty(client: PostgresClient, targets: readonly Target[]): Promise<void> {
  await client.query({ text: `LOCK TABLE ${targets.map(({ name }) => name).join()} IN EXCLUSIVE MODE` });
  for (const { name } of targets) {
    const { rows } = await client.query({ text: `SELECT 1 FROM ${name} LIMIT 1` });
    if (rows.length === 0) continue;
    throw new MoveError(
      `the PostgreSQL table ${name} has rows already, and rows are never merged: move into a schema that no server ` +
        'was started on, or drop this one if what is in it may go',
    );
  }
}

/** Stores rows in PostgreSQL with one statement that takes one array per column. */
export async function insert(client: PostgresClient, target: Target, rows: readonly Row[]): Promise<void> {
  const columns = Object.entries(target.table.columns);
  const names = columns.map(([name]) => quoted(name));
  const arrays = columns.map(([, kind], place) => `$${place + 1}::${parameterTypes[kind]}`);
  const values = columns.map(([name, kind]) => inserted(quoted(name), kind));
  await client.query({
    text: `
      INSERT INTO ${target.name} (${names.join()}) OVERRIDING SYSTEM VALUE
      SELECT ${values.join()} FROM unnest(${arrays.join()}) AS moved (${names.join()})
    `,
    values: columns.map((_, place) => rows.map((row) => toPostgres(row[place] ?? null))),
  });
}

/** Reads the stored rows of a table in pages, in the order of its key. */
export async function* storedIn(client: PostgresClient, target: Target): AsyncGenerator<readonly Row[]> {
  const { table, name } = target;
  const columns = Object.keys(table.columns);
  // Read integers as digits, because drivers convert them differently.
  const read = Object.entries(table.columns).map(([column, kind]) =>
    kind === 'integer' ? `moved.${quoted(column)}::text AS ${quoted(column)}` : `moved.${quoted(column)}`,
  );
  // Order by bytes as SQLite does, regardless of the column's collation.
  const order = table.key.map((column) => orderOf(column, table)).join();
  await client.query({
    text: `
      DECLARE ostiary_moved NO SCROLL CURSOR FOR
      SELECT ${read.join()} FROM ${name} AS moved ORDER BY ${order}
    `,
  });
  for (;;) {
    const { rows } = await client.query({
      text: `FETCH FORWARD ${pageRows} FROM ostiary_moved`,
      types: postgresTypes,
    });
    if (rows.length > 0) {
      yield (rows as readonly Readonly<Record<string, Value>>[]).map((row) =>
        columns.map((column) => row[column] ?? null),
      );
    }
    if (rows.length < pageRows) break;
  }
  await client.query({ text: 'CLOSE ostiary_moved' });
}

/**
 * Sets the identity column of a moved table to continue after the largest number, and updates the planner's
 * statistics. A rollback undoes both.
 */
export async function settle(client: PostgresClient, { table, name }: Target): Promise<void> {
  if (table.identity !== undefined) {
    const column = quoted(table.identity);
    const { rows } = await client.query({
      text: `SELECT (coalesce(max(${column}), 0) + 1)::text AS next FROM ${name}`,
      types: postgresTypes,
    });
    const [{ next }] = rows as [{ next: string }];
    // Not setval(), which a rollback would not undo.
    await client.query({ text: `ALTER TABLE ${name} ALTER COLUMN ${column} RESTART WITH ${next}` });
  }
  await client.query({ text: `ANALYZE ${name}` });
}

function orderOf(column: string, { columns }: TableMove): string {
  return `moved.${quoted(column)}${columns[column] === 'text' ? ' COLLATE "C"' : ''}`;
}
