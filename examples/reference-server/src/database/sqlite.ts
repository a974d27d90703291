import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { DatabaseUnavailable, messageOf, UniqueViolation } from './errors.ts';
import type { Database, Transaction, Values } from './queries.ts';

/** A connection to the file. */
export type Connection = Sqlite.Database;

/** The tables of this server in an SQLite file. */
export interface SqliteDatabase extends Database {
  readonly schema: null;
  /** The connection that writes, for what looks into the file beside the nouns. */
  readonly connection: Connection;
}

/** How long a write waits for another process that writes, in milliseconds. */
const busyPatienceMs = 2_000;

function codeOf(error: unknown): string {
  return error instanceof Sqlite.SqliteError ? error.code : '';
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** Errors of the disk or the lock; a broken constraint is not one of them. */
const unavailable = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|CORRUPT|NOTADB)/;

function translate(error: unknown, connection: Connection | null): unknown {
  if (unavailable.test(codeOf(error)) || connection?.open === false) {
    return new DatabaseUnavailable(`the database cannot be used (${messageOf(error)})`, { cause: error });
  }
  const column =
    codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE'
      ? /: app_\w+\.(\w+)$/.exec(messageOf(error))?.[1]
      : undefined;
  return column === undefined ? error : new UniqueViolation(column, { cause: error });
}

async function patiently<Result>(
  connection: Connection,
  deadline: number,
  attempt: () => Result,
): Promise<Result> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw translate(error, connection);
      await delay(randomInt(5, 40));
    }
  }
}

function open(file: string): Connection {
  try {
    // SQLite's own waiting would stop every request of this process, so it gets none.
    return new Sqlite(file, { timeout: 0 });
  } catch (error) {
    throw translate(error, null);
  }
}

/** Statements on one connection; each is prepared once. */
function statementsOn(connection: Connection) {
  const prepared = new Map<string, Sqlite.Statement<[Values]>>();

  function execute<Result>(sql: string, work: (statement: Sqlite.Statement<[Values]>) => Result): Result {
    try {
      const statement = prepared.get(sql) ?? connection.prepare<[Values]>(sql);
      prepared.set(sql, statement);
      return work(statement);
    } catch (error) {
      throw translate(error, connection);
    }
  }

  return {
    all: <Row>(sql: string, values: Values = {}) =>
      execute(sql, (statement) => statement.all(values) as Row[]),
    get: <Row>(sql: string, values: Values = {}) =>
      execute(sql, (statement) => statement.get(values) as Row | undefined),
    run: (sql: string, values: Values = {}) => execute(sql, (statement) => statement.run(values).changes),
  };
}

/**
 * Opens the file in WAL mode with `synchronous=FULL`, so that a commit survives a power cut. Reads have a connection of
 * their own: they see what is committed, and never wait for a writer.
 */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const connection = open(file);
  let reader: Connection | undefined;
  try {
    await patiently(connection, performance.now() + busyPatienceMs, () => {
      connection.pragma('journal_mode = WAL');
      connection.pragma('synchronous = FULL');
      connection.pragma('foreign_keys = ON');
    });
    reader = open(file);
    reader.pragma('query_only = ON');
  } catch (error) {
    connection.close();
    throw error;
  }
  return databaseOn(connection, reader);
}

function databaseOn(connection: Connection, reader: Connection): SqliteDatabase {
  const reading = statementsOn(reader);
  const writing = statementsOn(connection);
  let last: Promise<unknown> = Promise.resolve();
  let fullSyncSeen = false;

  function assertFullSync(): void {
    // The build falls back to NORMAL after the first WAL write unless FULL was set on this connection.
    if (!fullSyncSeen && connection.pragma('synchronous', { simple: true }) !== 2)
      throw new Error('synchronous is not FULL');
    fullSyncSeen = true;
  }

  /** Statements that work only as long as their transaction is open: one that nobody awaited must not join the next. */
  function transaction(): Transaction & { end(): void } {
    let isOver = false;
    const guarded = async <Result>(work: () => Result): Promise<Result> => {
      if (isOver) throw new Error('the transaction is over');
      return work();
    };
    return {
      all: (sql, values) => guarded(() => writing.all(sql, values)),
      get: (sql, values) => guarded(() => writing.get(sql, values)),
      run: (sql, values) => guarded(() => writing.run(sql, values)),
      script: (sql) => guarded(() => void connection.exec(sql)),
      handle: connection,
      end() {
        isOver = true;
      },
    };
  }

  async function inTransaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    deadline: number,
  ): Promise<Result> {
    await patiently(connection, deadline, () => connection.exec('BEGIN IMMEDIATE'));
    const open = transaction();
    // Everything that a write awaits is there already, so its transaction is over before the event loop turns.
    let hasTurned = false;
    const turn = setImmediate(() => {
      hasTurned = true;
    });
    try {
      const result = await work(open);
      if (hasTurned) throw new Error('a write on SQLite awaits nothing but its own statements');
      connection.exec('COMMIT');
      assertFullSync();
      return result;
    } catch (error) {
      // After some errors SQLite has taken the whole transaction back already.
      if (connection.open && connection.inTransaction) connection.exec('ROLLBACK');
      throw translate(error, connection);
    } finally {
      clearImmediate(turn);
      open.end();
    }
  }

  return {
    schema: null,
    connection,
    all: async (sql, values) => reading.all(sql, values),
    get: async (sql, values) => reading.get(sql, values),
    write(work, { patienceMs = busyPatienceMs } = {}) {
      const deadline = performance.now() + patienceMs;
      // One at a time: there is one connection that writes.
      const turn = last.then(() => inTransaction(work, deadline));
      last = turn.catch(() => undefined);
      return turn;
    },
    // The column's own collation compares without case.
    caseless: (expression) => expression,
    ping: async () => void reading.get('SELECT count(*) FROM sqlite_schema'),
    async close() {
      reader.close();
      connection.close();
    },
  };
}
