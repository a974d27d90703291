import { createHash } from 'node:crypto';
import { isNameConflict } from './errors.ts';
import { postgresTypes } from './parsers.ts';
import type { PostgresClient } from './pool.ts';
import { primaryOnly } from './primary.ts';

/** Connection for statements: one of the pool, or the host's. */
export interface Connection {
  /** @param values - of `$1`, `$2`, … in `text` */
  query(
    text: string,
    values: readonly unknown[],
    name?: string,
  ): Promise<{ readonly rows: readonly unknown[]; readonly count: number }>;
}

/**
 * A statement with named parameters, written at the place of its use:
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
  /** Answers how many rows were changed. */
  run(connection: Connection, parameters: Parameters): Promise<number>;
}

/** Checks whether a statement only reads, apart from the functions that it calls. A standby refuses every other statement by itself. */
function onlyReads(sql: string): boolean {
  const code = sql.replaceAll(/--.*|'[^']*'/g, '');
  return (
    /^\s*(?:SELECT|WITH)\b/.test(code) && !/\b(?:INSERT|UPDATE|DELETE|FOR\s+(?:KEY\s+)?SHARE)\b/.test(code)
  );
}

/** Builds a statement. A SELECT is answered by the primary only. */
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

/** True while statements are prepared, until a pooler in between shows that connections change. */
export interface Preparing {
  isOn: boolean;
}

/**
 * The same for frequent statements. If the connection allows it, PostgreSQL keeps them parsed and planned,
 * which is most of the work for a statement that finds or changes a row by its key. Use it only if the same
 * plan is good for all parameters and any number of rows, because a plan that was chosen for a small table
 * stays until the server replans.
 */
export const prepared = <Parameters extends object, Row = never>(sql: string): Statement<Parameters, Row> =>
  statement(sql, { isPrepared: true });

/** Type of a look-up's parameter. */
type KeyType = 'text' | 'bytea' | 'bigint';

/** Finds one row at most, by its key. */
export interface Lookup<Parameters extends object, Row> extends Statement<Parameters, Row> {
  readonly names: readonly (keyof Parameters & string)[];
  /** The same for many keys: takes an array for each parameter, and says with each row whose it is, counted from 1. */
  readonly ofMany: Statement<
    { readonly [name: string]: readonly unknown[] },
    Row & { readonly place: number }
  >;
}

/**
 * A statement that finds one row at most, by its key. It is written for one call; those that wait for each other are made
 * together (`database.get`), as a join of their parameters with it.
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

/** Looks many keys up with one statement. A single key uses the plain statement. */
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
 * Statements on a client of `pg`, ours or the host's.
 *
 * @param preparing - switched off by the first statement that fails because of it, which may be tried again
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
