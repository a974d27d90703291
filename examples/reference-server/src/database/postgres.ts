import {
  type PostgresOwnPool,
  type PostgresPoolClient,
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

/** The tables of this server in a schema of a PostgreSQL database. */
export interface PostgresDatabase extends Database {
  readonly schema: string;
  /** Shared with Ostiary's storage; ended by `close`. */
  readonly pool: PostgresOwnPool;
}

/** Time for any statement, including the wait for a connection, so that a 503 is sent within two seconds. */
const defaultPatienceMs = 1_500;
/** Time after which the server ends the transaction of a process that no longer responds. */
const idleInTransactionMs = 5_000;

/** SQLSTATE of what the server said; what the driver or the network said has none. */
export function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[0-9FHPX][0-9A-Z]{4}$/.test(code) ? code : '';
}

/** Checks whether an error leaves the connection of no further use: broken, ended by the server, or to a standby (25006, and 42704 of `primaryOnly`). */
const endsConnection = (error: unknown): boolean =>
  /^(?:$|08|57P|58|XX|25006|25P0[34]|42704)/.test(sqlStateOf(error));

/** Mistakes in a statement or its data: nothing that another try or another hour would change. */
const lasting = /^(?:0A|2[0-4]|26|42(?!704)|P0)/;

function translated(error: unknown): unknown {
  const state = sqlStateOf(error);
  const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : '';
  // The constraints are named by us: table, column, `key`.
  const column = state === '23505' ? /^[a-z]+_(\w+)_key$/.exec(constraint)?.[1] : undefined;
  if (column !== undefined) return new UniqueViolation(column, error);
  return lasting.test(state) ? error : new DatabaseUnavailable(error);
}

/** `:name` becomes `$1`, `app_users` the table of that name in the schema. */
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

/** A connection for one piece of work. */
interface Lent {
  readonly client: PostgresPoolClient;
  /** Without values it may be several statements; without a name any pooler may give the next one another connection. */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: never[]; count: number; command: string | undefined }>;
}

/** Runs work on a connection of the pool. A broken connection is closed and not used again. */
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
  // No statement listens for errors between two statements, and an unhandled error ends the process.
  client.on?.('error', onError);
  try {
    return await work({
      client,
      async query(text, values) {
        const timeout = Math.max(1, Math.ceil(deadline - performance.now()));
        const statement = {
          text,
          types: postgresTypes,
          query_timeout: timeout,
          ...(values?.length && { values }),
        };
        try {
          const { rows, rowCount, command } = await client.query(statement);
          return { rows: rows as never[], count: rowCount ?? 0, command };
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
    // All in one message. LOCAL ends with the transaction, so that no setting stays on the connection.
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

/**
 * Opens a pool, which connects when it is first used.
 *
 * @param schema - trusted: a word of this program's own, or of a test's
 */
export function openPostgres(
  connectionString: string,
  connections: number,
  schema = 'app',
): PostgresDatabase {
  const pool = postgresPool({ connectionString, max: connections });
  // Idle connections that the server ended are replaced when the next one is needed.
  pool.on?.('error', () => undefined);

  function query(lent: Lent, sql: string, values: Values = {}) {
    const statement = statementIn(schema, sql, values);
    return lent.query(statement.text, statement.values);
  }

  const transactionOn = (lent: Lent): Transaction => ({
    all: async (sql, values) => (await query(lent, sql, values)).rows,
    get: async (sql, values) => (await query(lent, sql, values)).rows[0],
    run: async (sql, values) => (await query(lent, sql, values)).count,
    script: async (sql) => void (await lent.query(sql)),
    handle: lent.client,
  });

  const all = <Row>(sql: string, values?: Values): Promise<Row[]> =>
    lend(pool, defaultPatienceMs, async (lent) => (await query(lent, primaryOnly(sql), values)).rows);
  let closing: Promise<void> | undefined;

  return {
    schema,
    pool,
    all,
    get: async <Row>(sql: string, values?: Values) => (await all<Row>(sql, values))[0],
    write: (work, { patienceMs = defaultPatienceMs } = {}) =>
      lend(pool, patienceMs, (lent) => inTransaction(lent, patienceMs, () => work(transactionOn(lent)))),
    caseless: (expression) => `lower(${expression} COLLATE "C")`,
    connections: () => ({
      idle: pool.idleCount,
      used: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),
    ping: async () => void (await all('SELECT 1')),
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}
