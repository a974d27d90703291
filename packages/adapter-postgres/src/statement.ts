import { types } from 'pg';
import type { PostgresClient } from './pool.ts';

/** What statements run on: one connection of the pool, or one of the host's. */
export interface Connection {
  /** @param values - of `$1`, `$2`, … in `text` */
  query(
    text: string,
    values: readonly unknown[],
  ): Promise<{ readonly rows: readonly unknown[]; readonly count: number }>;
}

/**
 * One statement with named parameters, written where it is used:
 *
 * ```ts
 * const find = statement<{ slug: string }, PartnerRecord>(`
 *   SELECT slug, name, created_at AS "createdAt" FROM ${schema}.partners WHERE slug = :slug
 * `);
 * ```
 *
 * `bigint` comes as a number, `bytea` as a Buffer, arrays as arrays; amounts have to be read as text. Where
 * PostgreSQL cannot tell a parameter's type, cast it: `:after::text IS NULL`. It is sent without a name, so that
 * any pooler may give each transaction another connection.
 */
export interface Statement<Parameters extends object, Row = never> {
  all(connection: Connection, parameters: Parameters): Promise<Row[]>;
  get(connection: Connection, parameters: Parameters): Promise<Row | undefined>;
  /** Answers how many rows were changed. */
  run(connection: Connection, parameters: Parameters): Promise<number>;
}

export function statement<Parameters extends object, Row = never>(sql: string): Statement<Parameters, Row> {
  const names: string[] = [];
  const text = sql.replaceAll(/(?<!:):([A-Za-z]\w*)/g, (_match, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  const valuesOf = (parameters: Parameters) => names.map((name) => Reflect.get(parameters, name));
  const all = async (connection: Connection, parameters: Parameters) => {
    const { rows } = await connection.query(text, valuesOf(parameters));
    return rows as Row[];
  };
  return {
    all,
    get: async (connection, parameters) => (await all(connection, parameters))[0],
    run: async (connection, parameters) => (await connection.query(text, valuesOf(parameters))).count,
  };
}

/** Statements on a client of `pg`, ours or the host's. */
export function connectionOn(client: PostgresClient): Connection {
  return {
    async query(text, values) {
      const { rows, rowCount } = await client.query({ text, values, types: parsers });
      return { rows, count: rowCount ?? 0 };
    },
  };
}

const int8 = 20;

/** Independent of what the host has set for its own statements where that is usual: `bigint`. */
const parsers = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : types.getTypeParser(oid, format),
};
