import type { NameSearch, SortedPage } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

/** Text that sorts after every stored name and URL: the last code point of Unicode. */
const afterEveryName = '\u{10ffff}';

interface Place {
  readonly value: string | number;
  readonly id: string;
  readonly limit: number;
}

/**
 * Creates the functions that list the rows of a table by `search_name` or `created_at`, find rows by words of
 * the name, and count rows. An index on each of these columns and the id serves both directions.
 * @param name - column of the name. @defaultValue `search_name`
 * @param where - condition that the indexes have too, or that compares parameters of the filter
 */
export function postgresSortedLists<Row, Filter extends object = object>(
  database: Database,
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
  const rows = `${database.schema}.${table}`;
  const list = (column: string, comparison: '<' | '>') => {
    const order = comparison === '<' ? 'DESC' : 'ASC';
    return statement<Place & Filter, Row>(`
      SELECT ${columns} FROM ${rows}
      WHERE ${where} AND (${column}, ${id}) ${comparison} (:value, :id)
      ORDER BY ${column} ${order}, ${id} ${order} LIMIT :limit
    `);
  };
  const lists = {
    name: { up: list(name, '>'), down: list(name, '<') },
    created: { up: list('created_at', '>'), down: list('created_at', '<') },
  };
  const beginnings = {
    name: { up: '', down: afterEveryName },
    created: { up: -1, down: Number.MAX_SAFE_INTEGER },
  };
  // Walks along the index, and reads the whole records only of what it found.
  const named = statement<NameSearch & Filter, Row>(`
    SELECT ${columns} FROM ${rows} WHERE ${id} = ANY (ARRAY (
      SELECT ${id} FROM (
        SELECT ${id}, ${name} FROM ${rows} WHERE ${where} ORDER BY ${name}, ${id} LIMIT :searched
      ) AS searched
      WHERE strpos(' ' || ${name}, ' ' || :words::text) > 0 LIMIT :limit
    ))
    ORDER BY ${name}, ${id}
  `);
  // The order makes PostgreSQL walk along the index, and not read the table with the whole records.
  const count = statement<{ readonly limit: number } & Filter, { readonly count: number }>(`
    SELECT count(*) AS count FROM (
      SELECT FROM ${rows} WHERE ${where} ORDER BY ${name} LIMIT :limit
    ) AS counted
  `);

  return {
    page({ by, descending, after, limit }: SortedPage, filter: Filter): Promise<Row[]> {
      const direction = descending ? 'down' : 'up';
      const { value, id: from } = after ?? { value: beginnings[by][direction], id: '' };
      return database.all(lists[by][direction], { value, id: from, limit, ...filter });
    },
    named: (search: NameSearch, filter: Filter): Promise<Row[]> =>
      database.all(named, { ...search, ...filter }),
    count: async (limit: number, filter: Filter): Promise<number> =>
      (await database.get(count, { limit, ...filter }))?.count ?? 0,
  };
}
