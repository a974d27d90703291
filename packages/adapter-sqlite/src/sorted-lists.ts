import type { NameSearch, SortedPage } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';

/** Text that sorts after every stored name and URL: the last code point of Unicode. */
const afterEveryName = '\u{10ffff}';

interface Place {
  readonly value: string | number;
  readonly id: string;
  readonly limit: number;
}

/**
 * Prepares the statements that list the rows of a table by `search_name` or `created_at`, find rows by words
 * of the name, and count rows. An index on each of these columns and the id serves both directions.
 * @param name - column of the name. @defaultValue `search_name`
 * @param where - condition that the indexes have too, or that compares parameters of the filter
 */
export function sortedListsOn<Row, Filter extends object = object>(
  connection: Connection,
  {
    columns,
    table,
    id,
    name = 'search_name',
    where = 'true',
  }: {
    readonly columns: string;
    readonly table: string;
    readonly id: string;
    readonly name?: string;
    readonly where?: string;
  },
) {
  const list = (column: string, comparison: '<' | '>') =>
    connection.prepare<[Place & Filter], Row>(`
      SELECT ${columns} FROM ${table}
      WHERE ${where} AND (${column}, ${id}) ${comparison} (:value, :id)
      ORDER BY ${column} ${comparison === '<' ? 'DESC' : 'ASC'}, ${id} ${comparison === '<' ? 'DESC' : 'ASC'}
      LIMIT :limit
    `);
  const lists = {
    name: { up: list(name, '>'), down: list(name, '<') },
    created: { up: list('created_at', '>'), down: list('created_at', '<') },
  };
  const beginnings = {
    name: { up: '', down: afterEveryName },
    created: { up: -1, down: Number.MAX_SAFE_INTEGER },
  };
  // Walks along the index, and reads the whole records only of what it found.
  const named = connection.prepare<[NameSearch & Filter], Row>(`
    SELECT ${columns} FROM ${table} WHERE ${id} IN (
      SELECT ${id} FROM (
        SELECT ${id}, ${name} FROM ${table} WHERE ${where} ORDER BY ${name}, ${id} LIMIT :searched
      )
      WHERE instr(' ' || ${name}, ' ' || :words) > 0 LIMIT :limit
    )
    ORDER BY ${name}, ${id}
  `);
  // The order makes SQLite walk along the index, and not read the table with the whole records.
  const count = connection.prepare<[{ readonly limit: number } & Filter], { readonly count: number }>(`
    SELECT count(*) AS count FROM (
      SELECT 1 FROM ${table} WHERE ${where} ORDER BY ${name} LIMIT :limit
    )
  `);

  return {
    page({ by, descending, after, limit }: SortedPage, filter: Filter): Row[] {
      const direction = descending ? 'down' : 'up';
      const { value, id: from } = after ?? { value: beginnings[by][direction], id: '' };
      return lists[by][direction].all({ value, id: from, limit, ...filter });
    },
    named: (search: NameSearch, filter: Filter): Row[] => named.all({ ...search, ...filter }),
    count: (limit: number, filter: Filter): number => count.get({ limit, ...filter })?.count ?? 0,
  };
}
