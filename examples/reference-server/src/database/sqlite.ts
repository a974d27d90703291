import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileGuard, StorageUnavailableError } from '@ostiary/adapter-sqlite';
import Sqlite from 'better-sqlite3';
import {
  type Database,
  DatabaseUnavailable,
  type Transaction,
  UniqueViolation,
  type Values,
} from './database.ts';

/** A connection to the SQLite file. */
export type Connection = Sqlite.Database;

/** Database of this server in an SQLite file. */
export interface SqliteDatabase extends Database {
  readonly schema: null;
  /** Connection that writes. Also used for checks of the file itself. */
  readonly connection: Connection;
}

/** Time for which a write waits for other writes, in milliseconds. */
const busyPatienceMs = 2_000;

/** Error codes that concern the disk or a lock, and not violated constraints. */
const unavailable = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|CORRUPT|NOTADB)/;

const codeOf = (error: unknown): string => (error instanceof Sqlite.SqliteError ? error.code : '');

function translated(error: unknown, connection: Connection | null): unknown {
  if (unavailable.test(codeOf(error)) || connection?.open === false) return new DatabaseUnavailable(error);
  if (error instanceof StorageUnavailableError) return new DatabaseUnavailable(error);
  if (codeOf(error) !== 'SQLITE_CONSTRAINT_UNIQUE') return error;
  const column = /: app_\w+\.(\w+)$/.exec(error instanceof Error ? error.message : '')?.[1];
  return column === undefined ? error : new UniqueViolation(column, error);
}

/**
 * Retries a write while another connection writes. Waiting inside SQLite would block the event loop, so
 * SQLite's own timeout is zero.
 */
async function patiently(connection: Connection, deadline: number, attempt: () => void): Promise<void> {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      const isBusy = /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
      if (!isBusy || performance.now() >= deadline) throw translated(error, connection);
      await delay(randomInt(5, 40));
    }
  }
}

/** Runs statements on one connection, and prepares each of them once. */
function statementsOn(connection: Connection) {
  const prepared = new Map<string, Sqlite.Statement<[Values]>>();

  async function execute<Result>(
    sql: string,
    work: (statement: Sqlite.Statement<[Values]>) => Result,
  ): Promise<Result> {
    try {
      const statement = prepared.get(sql) ?? connection.prepare<[Values]>(sql);
      prepared.set(sql, statement);
      return work(statement);
    } catch (error) {
      throw translated(error, connection);
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
 * Opens the SQLite file in WAL mode with `synchronous=FULL`, so that a commit survives a power cut. Reads
 * have a separate connection: they see what is committed, and never wait for a writer.
 *
 * @throws DatabaseUnavailable
 */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  let opened: Connection | null = null;
  try {
    const connection = new Sqlite(file, { timeout: 0 });
    opened = connection;
    await patiently(connection, performance.now() + busyPatienceMs, () => {
      // First, because a new file takes it only before its first page, and WAL mode writes that page. Ostiary's storage
      // returns free space to the file system only in this mode.
      connection.pragma('auto_vacuum = INCREMENTAL');
      connection.pragma('journal_mode = WAL');
      connection.pragma('synchronous = FULL');
      connection.pragma('journal_size_limit = 4194304');
      connection.pragma('foreign_keys = ON');
    });
    return databaseOn(connection, new Sqlite(file, { timeout: 0, readonly: true }));
  } catch (error) {
    opened?.close();
    throw translated(error, null);
  }
}

function databaseOn(connection: Connection, reader: Connection): SqliteDatabase {
  const { all, get } = statementsOn(reader);
  const assertFileInPlace = fileGuard(connection);
  // Read once, so that both connections have opened the files that the guard watches.
  reader.prepare('SELECT 1 FROM sqlite_schema').get();
  const transaction: Transaction = {
    ...statementsOn(connection),
    script: async (sql) => void connection.exec(sql),
    handle: connection,
  };
  let last: Promise<unknown> = Promise.resolve();

  async function inTransaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    deadline: number,
  ): Promise<Result> {
    await patiently(connection, deadline, () => connection.exec('BEGIN IMMEDIATE'));
    try {
      const result = await work(transaction);
      assertFileInPlace();
      connection.exec('COMMIT');
      return result;
    } catch (error) {
      // After some errors SQLite has already rolled the transaction back.
      if (connection.open && connection.inTransaction) connection.exec('ROLLBACK');
      throw translated(error, connection);
    }
  }

  return {
    schema: null,
    connection,
    all,
    get,
    write(work, { patienceMs = busyPatienceMs } = {}) {
      const deadline = performance.now() + patienceMs;
      // Run one transaction at a time, because only one connection writes.
      const turn = last.then(() => inTransaction(work, deadline));
      last = turn.catch(() => undefined);
      return turn;
    },
    // Needs no function: LIKE ignores the case of ASCII letters, and columns that are compared otherwise have COLLATE NOCASE.
    caseless: (expression) => expression,
    async ping() {
      try {
        assertFileInPlace();
      } catch (error) {
        throw translated(error, connection);
      }
      await get('SELECT count(*) FROM sqlite_schema');
    },
    async close() {
      reader.close();
      connection.close();
    },
  };
}
