import {
  type PostgresClient,
  type PostgresOwnPool,
  postgresPool,
  postgresTypes,
  primaryOnly,
} from '@ostiary/adapter-postgres';
import {
  type Database,
  DatabaseUnavailable,
  type Transaction,
  UniqueViolation,
  type Values,
} from './database.ts';

/** Database of this server on PostgreSQL, with its tables in a schema. */
export interface PostgresDatabase extends Database {
  readonly schema: string;
  /** Connection pool, which Ostiary's storage shares. `close` ends it. */
  readonly pool: PostgresOwnPool;
}

/**
 * Time limit of a read or a whole transaction, including the wait for a connection, in milliseconds: it lets the server respond
 * with 503 within two seconds.
 */
const defaultPatienceMs = 1_500;
/** Time after which PostgreSQL ends the transaction of a process that no longer responds, in milliseconds. */
const idleInTransactionMs = 5_000;

/** Returns the SQLSTATE of an error from PostgreSQL; '' for errors of the driver or the network. */
function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[0-9FHPX][0-9A-Z]{4}$/.test(code) ? code : '';
}

/**
 * Checks whether an error makes the connection unusable: it is broken, the server ended it, or it leads to a
 * standby (25006, and 42704 of `primaryOnly`).
 */
const endsConnection = (error: unknown): boolean =>
  /^(?:$|08|57P|58|XX|25006|25P0[34]|42704)/.test(sqlStateOf(error));

/** SQLSTATEs of permanent errors in a statement or its data: a retry won't help. */
const lasting = /^(?:0A|2[0-4]|26|42(?!704)|P0)/;

function translated(error: unknown): unknown {
  const state = sqlStateOf(error);
  const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : '';
  // Constraints are named table, column, `key`.
  const column = state === '23505' ? /^[a-z]+_(\w+)_key$/.exec(constraint)?.[1] : undefined;
  if (column !== undefined) return new UniqueViolation(column, error);
  return lasting.test(state) ? error : new DatabaseUnavailable(error);
}

/** Converts a statement: `:name` becomes `$1`, and `app_users` the table of that name in the schema. */
function statementIn(schema: string, sql: string, values: Values): { text: string; values: unknown[] } {
  const names: string[] = [];
  const text = sql
    .replaceAll(/\bapp_(\w+)/g, `"${schema}".$1`)
    .replaceAll(/(?<!:):([A-Za-z]\w*)/g, (_match, name: string) => {
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
  return {
    text,
    values: names.map((name) => {
      if (values[name] === undefined) throw new Error(`the parameter ${name} has no value`);
      return values[name];
    }),
  };
}

/** Connection to PostgreSQL, used for one read or transaction. */
interface Lent {
  readonly client: PostgresClient;
  /**
   * Runs a query. Without values, the text may contain several statements. The query is not a named
   * statement, because a pooler may run the next query on another connection.
   */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: never[]; count: number; command: string | undefined }>;
}

/** Sends a query to PostgreSQL, with a time limit in milliseconds if one is given. */
async function send(
  client: PostgresClient,
  text: string,
  values: unknown[] = [],
  limit: { readonly query_timeout?: number } = {},
): ReturnType<Lent['query']> {
  const statement = { text, types: postgresTypes, ...limit, ...(values.length > 0 && { values }) };
  const { rows, rowCount, command } = await client.query(statement);
  return { rows: rows as never[], count: rowCount ?? 0, command };
}

/** Runs work on a connection of the pool. A broken connection is closed instead of being returned. */
async function lend<Result>(
  pool: PostgresOwnPool,
  patienceMs: number,
  work: (lent: Lent) => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  const client = await pool.connect().catch((error: unknown) => {
    throw translated(error);
  });
  let isBroken = false;
  const onError = (): void => {
    isBroken = true;
  };
  // Between two statements nothing listens for errors, and an unhandled one ends the process.
  client.on?.('error', onError);
  try {
    return await work({
      client,
      async query(text, values) {
        const timeout = Math.max(1, Math.ceil(deadline - performance.now()));
        try {
          return await send(client, text, values, { query_timeout: timeout });
        } catch (error) {
          isBroken ||= endsConnection(error);
          throw translated(error);
        }
      },
    });
  } finally {
    client.removeListener?.('error', onError);
    client.release(isBroken);
  }
}

async function inTransaction<Result>(
  lent: Lent,
  patienceMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    // One message for all statements. LOCAL ends with the transaction, so that no setting stays on the
    // connection.
    await lent.query(
      `BEGIN ISOLATION LEVEL READ COMMITTED;
       SET LOCAL statement_timeout = ${patienceMs};
       SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs};
       ${primaryOnly('SELECT 1')}`,
    );
    const result = await work();
    const { command } = await lent.query('COMMIT');
    if (command === 'ROLLBACK') throw new DatabaseUnavailable(new Error('the transaction was rolled back'));
    return result;
  } catch (error) {
    await lent.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function query(lent: Lent, schema: string, sql: string, values: Values = {}) {
  const statement = statementIn(schema, sql, values);
  return lent.query(statement.text, statement.values);
}

const transactionOn = (lent: Lent, schema: string): Transaction => ({
  all: async (sql, values) => (await query(lent, schema, sql, values)).rows,
  get: async (sql, values) => (await query(lent, schema, sql, values)).rows[0],
  run: async (sql, values) => (await query(lent, schema, sql, values)).count,
  script: async (sql) => void (await lent.query(sql)),
  handle: lent.client,
});

/** Runs statements of this server in a transaction that the caller began on its own connection. */
export const transactionOf = (client: PostgresClient, schema: string): Transaction =>
  transactionOn({ client, query: (text, values) => send(client, text, values) }, schema);

/**
 * Opens a pool of connections, which connects on first use.
 *
 * @param schema - name of the schema, which is not escaped and must not come from outside
 */
export function openPostgres(
  connectionString: string,
  connections: number,
  schema = 'app',
): PostgresDatabase {
  const pool = postgresPool({ connectionString, max: connections });

  const all = <Row>(sql: string, values?: Values): Promise<Row[]> =>
    lend(pool, defaultPatienceMs, async (lent) => (await query(lent, schema, primaryOnly(sql), values)).rows);
  let closing: Promise<void> | undefined;

  return {
    schema,
    pool,
    all,
    get: async <Row>(sql: string, values?: Values) => (await all<Row>(sql, values))[0],
    write: (work, { patienceMs = defaultPatienceMs } = {}) =>
      lend(pool, patienceMs, (lent) =>
        inTransaction(lent, patienceMs, () => work(transactionOn(lent, schema))),
      ),
    caseless: (expression) => `lower(${expression} COLLATE "C")`,
    connections: () => ({
      idle: pool.idleCount,
      used: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
      max: connections,
    }),
    ping: async () => void (await all('SELECT 1')),
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}
