import { createHash } from 'node:crypto';
import { isNameConflict } from './errors.ts';
import { postgresTypes } from './parsers.ts';
import type { PostgresClient } from './pool.ts';
import { primaryOnly } from './primary.ts';

/** Connection on which statements run: of the pool, or of the host application. */
export interface Connection {
  /** Runs a statement. @param values - values of `$1`, `$2`, … in `text` */
  query(
    text: string,
    values: readonly unknown[],
    name?: string,
  ): Promise<{ readonly rows: readonly unknown[]; readonly count: number }>;
}

/**
 * An SQL statement with named parameters, written where it is used:
 *
 * ```ts
 * const find = statement<{ slug: string }, PartnerRecord>(`
 *   SELECT slug, name, created_at AS "createdAt" FROM ${schema}.partners WHERE slug = :slug
 * `);
 * ```
 *
 * `bigint` comes as a number, `bytea` as a Buffer, arrays as arrays; amounts have to be read as text. Where
 * PostgreSQL cannot tell a parameter's type, cast it: `:after::text IS NULL`.
 */
export interface Statement<Parameters extends object, Row = never> {
  all(connection: Connection, parameters: Parameters): Promise<Row[]>;
  get(connection: Connection, parameters: Parameters): Promise<Row | undefined>;
  /** Runs the statement and returns the number of changed rows. */
  run(connection: Connection, parameters: Parameters): Promise<number>;
}

/**
 * Checks whether a statement only reads, disregarding functions that it calls. A standby refuses all other
 * statements by itself.
 */
function onlyReads(sql: string): boolean {
  const code = sql.replaceAll(/--.*|'[^']*'/g, '');
  return (
    /^\s*(?:SELECT|WITH)\b/.test(code) && !/\b(?:INSERT|UPDATE|DELETE|FOR\s+(?:KEY\s+)?SHARE)\b/.test(code)
  );
}

/** Creates an SQL statement. A SELECT runs on the primary server only. */
export function statement<Parameters extends object, Row = never>(
  sql: string,
  { isPrepared = false }: { readonly isPrepared?: boolean } = {},
): Statement<Parameters, Row> {
  const names: string[] = [];
  const guarded = onlyReads(sql) ? primaryOnly(sql) : sql;
  const text = guarded.replaceAll(/(?<!:):([A-Za-z]\w*)/g, (_match, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  // Derive the name from the text, so that it always means the same statement on every connection.
  const name = isPrepared
    ? `ostiary_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
    : undefined;
  const valuesOf = (parameters: Parameters) => names.map((name): unknown => Reflect.get(parameters, name));
  const all = async (connection: Connection, parameters: Parameters) => {
    const { rows } = await connection.query(text, valuesOf(parameters), name);
    return rows as Row[];
  };
  return {
    all,
    get: async (connection, parameters) => (await all(connection, parameters))[0],
    run: async (connection, parameters) => (await connection.query(text, valuesOf(parameters), name)).count,
  };
}

/**
 * Switch for prepared statements on the connections of a storage. It is turned off once errors show that a pooler
 * switches connections.
 */
export interface Preparing {
  isOn: boolean;
}

/**
 * Creates a prepared statement, for frequent use. If the connection allows it, PostgreSQL keeps it parsed and,
 * after some uses, planned, which saves most of the work for a statement that finds or changes a row by its
 * key. Use it only if one plan is good for all parameters and any number of rows, because a plan chosen for a
 * small table stays until the server replans.
 */
export const prepared = <Parameters extends object, Row = never>(sql: string): Statement<Parameters, Row> =>
  statement(sql, { isPrepared: true });

/** Type of a key column in a look-up. */
type KeyType = 'text' | 'bytea' | 'bigint';

/** A statement that finds at most one row by its key. */
export interface Lookup<Parameters extends object, Row> extends Statement<Parameters, Row> {
  readonly names: readonly (keyof Parameters & string)[];
  /**
   * Variant of the look-up for many keys: takes an array for each parameter, and returns with each row the
   * index of its key, counted from 1.
   */
  readonly ofMany: Statement<
    { readonly [name: string]: readonly unknown[] },
    Row & { readonly place: number }
  >;
}

/**
 * Creates a statement that finds at most one row by its key. The SQL is written for one key. `database.get`
 * combines concurrent calls into one statement, which joins the keys of all calls with this SQL.
 */
export function lookup<Parameters extends object, Row>(
  types: { readonly [Name in keyof Parameters]: KeyType },
  sql: string,
): Lookup<Parameters, Row> {
  const names = Object.keys(types) as (keyof Parameters & string)[];
  const ofEach = sql.replaceAll(/(?<!:):([A-Za-z]\w*)/g, 'asked."$1"');
  const ofMany = prepared<{ readonly [name: string]: readonly unknown[] }, Row & { readonly place: number }>(`
    SELECT place, found.*
    FROM unnest(${names.map((name) => `:${name}::${types[name]}[]`)})
      WITH ORDINALITY AS asked (${names.map((name) => `"${name}"`)}, place)
    CROSS JOIN LATERAL (${ofEach}) AS found
  `);
  return { ...prepared<Parameters, Row>(sql), names, ofMany };
}

/** Looks up many keys with one statement. For a single key, the plain statement is used. */
export async function lookUpAll<Parameters extends object, Row>(
  connection: Connection,
  lookup: Lookup<Parameters, Row>,
  group: readonly Parameters[],
): Promise<(Row | null)[]> {
  const [first] = group;
  if (group.length === 1 && first !== undefined) return [(await lookup.get(connection, first)) ?? null];
  const keys = Object.fromEntries(lookup.names.map((name) => [name, group.map((of) => of[name])]));
  const found: (Row | null)[] = group.map(() => null);
  for (const { place, ...row } of await lookup.ofMany.all(connection, keys)) found[place - 1] = row as Row;
  return found;
}

/**
 * Wraps a client of `pg`, of the storage or of the host application, as a connection on which statements run.
 *
 * @param preparing - turned off by the first statement that fails because it was prepared, and which can be retried
 */
export function connectionOn(
  client: Pick<PostgresClient, 'query'>,
  preparing: Preparing = { isOn: false },
): Connection {
  return {
    async query(text, values, name) {
      const prepared = name !== undefined && preparing.isOn ? { name } : undefined;
      try {
        const { rows, rowCount } = await client.query({ ...prepared, text, values, types: postgresTypes });
        return { rows, count: rowCount ?? 0 };
      } catch (error) {
        if (isNameConflict(error)) preparing.isOn = false;
        throw error;
      }
    },
  };
}
