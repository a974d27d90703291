import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';

/** The database did not answer; nothing was changed. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** Ostiary answers errors with this code with 503, wherever they come from. */
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** What statements are prepared on. */
export type Connection = Sqlite.Database;

/** The connection of this server's own tables, next to the one that Ostiary's storage opens on the same file. */
export interface Database {
  /** For preparing statements. */
  readonly connection: Connection;
  /**
   * Runs synchronous reads. WAL never makes them wait for a writer.
   *
   * @throws {@link DatabaseUnavailable}
   */
  read<Result>(work: () => Result): Result;
  /**
   * Runs `work` in one short transaction, synchronously. While another process writes, this waits without blocking
   * the event loop, at most two seconds.
   *
   * @throws {@link DatabaseUnavailable}
   */
  write<Result>(work: () => Result): Promise<Result>;
  /** @throws {@link DatabaseUnavailable} */
  ping(): void;
  close(): void;
}

const patienceMs = 2_000;

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}

/** Errors of the disk or the lock; a broken constraint is not one of them. */
function isUnavailable(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|READONLY|CORRUPT|NOTADB)/.test(error.code)
  );
}

function translate(error: unknown, connection: Sqlite.Database | null): unknown {
  return isUnavailable(error) || connection?.open === false
    ? new DatabaseUnavailable(`the database cannot be used (${messageOf(error)})`, { cause: error })
    : error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

async function patiently<Result>(connection: Sqlite.Database, attempt: () => Result): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw translate(error, connection);
      await delay(randomInt(5, 40));
    }
  }
}

function open(file: string): Sqlite.Database {
  try {
    return new Sqlite(file, { timeout: 0 });
  } catch (error) {
    throw translate(error, null);
  }
}

/** Opens the file in WAL mode with `synchronous=FULL`, so that a commit survives a power cut. */
export async function openDatabase(file: string): Promise<Database> {
  // SQLite's own waiting would stop every request of this process, so it gets none.
  const connection = open(file);
  let fullSyncSeen = false;

  function setUp(): void {
    connection.pragma('journal_mode = WAL');
    connection.pragma('synchronous = FULL');
    connection.pragma('foreign_keys = ON');
  }

  function read<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw translate(error, connection);
    }
  }

  function transaction<Result>(work: () => Result): Result {
    const result = connection.transaction(work).immediate();
    if (!fullSyncSeen) {
      // The build falls back to NORMAL after the first WAL write unless FULL was set on this connection.
      if (connection.pragma('synchronous', { simple: true }) !== 2)
        throw new Error('synchronous is not FULL');
      fullSyncSeen = true;
    }
    return result;
  }

  try {
    await patiently(connection, setUp);
  } catch (error) {
    connection.close();
    throw error;
  }

  return {
    connection,
    read,
    write: (work) => patiently(connection, () => transaction(work)),
    ping: () => void read(() => connection.prepare('SELECT 1').get()),
    close: () => void connection.close(),
  };
}
