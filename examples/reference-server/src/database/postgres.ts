import { Pool } from 'pg';
import { DatabaseUnavailable } from './errors.ts';
import { type Loan, lend } from './postgres-lending.ts';
import type { Database, Transaction, Values } from './queries.ts';

/** The tables of this server in a schema of a PostgreSQL database. */
export interface PostgresDatabase extends Database {
  readonly schema: string;
  /** Shared with Ostiary's storage; ended by `close`. */
  readonly pool: Pool;
}

/** How long anything may take, the wait for a connection included: an answer of 503 comes within two seconds. */
const defaultPatienceMs = 1_500;
/** How long the server keeps a transaction of a process that it does not hear of any more. */
const idleInTransactionMs = 5_000;

interface Statement {
  readonly text: string;
  readonly names: readonly string[];
}

/** `:name` becomes `$1`, `app_users` the table of that name in the schema. */
function translate(sql: string, schema: string): Statement {
  const names: string[] = [];
  const text = sql
    .replaceAll(/\bapp_(\w+)/g, `"${schema}".$1`)
    .replaceAll(/(?<!:):([A-Za-z]\w*)/g, (_match, name: string) => {
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
  return { text, names };
}

/** `schema` is trusted: a word of this program's own, or of a test's. */
export function postgresDatabase(pool: Pool, schema = 'app'): PostgresDatabase {
  const known = new Map<string, Statement>();

  function statementOf(sql: string): Statement {
    const statement = known.get(sql) ?? translate(sql, schema);
    known.set(sql, statement);
    return statement;
  }

  function run(loan: Loan, sql: string, values: Values = {}) {
    const { text, names } = statementOf(sql);
    return loan.query(
      text,
      names.map((name) => {
        const value = values[name];
        if (value === undefined) throw new Error(`the parameter ${name} has no value`);
        return value;
      }),
    );
  }

  function transactionOn(loan: Loan): Transaction {
    const rows = async <Row>(sql: string, values?: Values): Promise<Row[]> =>
      (await run(loan, sql, values)).rows as Row[];
    return {
      all: rows,
      get: async <Row>(sql: string, values?: Values) => (await rows<Row>(sql, values))[0],
      run: async (sql, values) => (await run(loan, sql, values)).count,
      script: async (sql) => void (await loan.query(sql)),
      handle: loan.client,
    };
  }

  async function inTransaction<Result>(
    loan: Loan,
    patienceMs: number,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    try {
      // One message. LOCAL ends with the transaction, so that nothing is left on the connection.
      await loan.query(
        `BEGIN ISOLATION LEVEL READ COMMITTED;
         SET LOCAL statement_timeout = ${patienceMs};
         SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
      );
      const result = await work(transactionOn(loan));
      loan.isCommitting = true;
      const { command } = await loan.query('COMMIT');
      if (command === 'ROLLBACK') throw new DatabaseUnavailable('the transaction was rolled back');
      return result;
    } catch (error) {
      if (!loan.isBroken) await loan.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  const all = <Row>(sql: string, values?: Values): Promise<Row[]> =>
    lend(pool, defaultPatienceMs, async (loan) => (await run(loan, sql, values)).rows as Row[]);
  let closing: Promise<void> | undefined;

  return {
    schema,
    pool,
    all,
    get: async <Row>(sql: string, values?: Values) => (await all<Row>(sql, values))[0],
    write: (work, { patienceMs = defaultPatienceMs } = {}) =>
      lend(pool, patienceMs, (loan) => inTransaction(loan, patienceMs, work)),
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

/** Opens a pool. Connects when it is first used. */
export function openPostgres(connectionString: string, connections: number): PostgresDatabase {
  const pool = new Pool({
    connectionString,
    max: connections,
    // No other parameter of the session: poolers such as PgBouncer refuse to start one with them.
    application_name: 'ostiary',
    connectionTimeoutMillis: defaultPatienceMs,
    keepAlive: true,
  });
  // Idle connections that the server ended are replaced when the next one is needed.
  pool.on('error', () => undefined);
  return postgresDatabase(pool);
}
