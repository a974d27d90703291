import { closeSync, openSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { busyTimeoutMs, codeOf, retryWhileBusy, type Timing } from './busy.ts';
import { StorageUnavailableError } from './errors.ts';

export type Connection = Sqlite.Database;

/**
 * Timeout for opening the database, in milliseconds. Longer than that of a request, because other processes
 * may start at the same time.
 */
export const startTimeoutMs = 30_000;

/**
 * Size in bytes to which SQLite truncates the write-ahead log when it begins to reuse the log: the size at
 * which it usually does so.
 */
export const logSizeLimit = 4 * 2 ** 20;

/** SQLite's file name for a database in memory, which ends with its connection. */
export const inMemory = ':memory:';

/** Opens or creates the database file, and configures the connection so that commits are durable. */
export async function openConnection(file: string, timing: Timing): Promise<Connection> {
  // Loaded only here: on a Node version that is too old, the driver must not be loaded at all.
  const { default: Driver } = await import('better-sqlite3');
  const path = file === inMemory ? inMemory : resolve(file);
  if (path !== inMemory) createPrivately(path);
  const connection = new Driver(path, { timeout: busyTimeoutMs });
  try {
    await retryWhileBusy(() => configure(connection), timing, startTimeoutMs);
    return connection;
  } catch (error) {
    connection.close();
    if (codeOf(error) !== 'SQLITE_NOTADB') throw error;
    // Leave the file unchanged, because it may belong to another program.
    throw new StorageUnavailableError(
      `${path} is no SQLite database; name another file, or move this one away`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Throws if commits no longer wait for the disk. Called after a write, because SQLite may lower its setting
 * `synchronous` when it switches to WAL mode.
 */
export function assertDurable(connection: Connection): void {
  const synchronous = connection.pragma('synchronous', { simple: true });
  if (synchronous !== 2) {
    throw new StorageUnavailableError(`SQLite runs with synchronous = ${synchronous}, not 2 (FULL)`);
  }
}

function configure(connection: Connection): void {
  connection.pragma('foreign_keys = ON');
  // Before the first write, because it has no effect on a new file afterwards.
  connection.pragma('auto_vacuum = INCREMENTAL');
  const mode = connection.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal' && !connection.memory) {
    throw new StorageUnavailableError(
      `SQLite cannot use WAL here (journal_mode = ${mode}); use a local disk`,
    );
  }
  connection.pragma('synchronous = FULL');
  connection.pragma(`journal_size_limit = ${logSizeLimit}`);
  // On macOS a plain fsync leaves data in the drive's cache. No effect elsewhere.
  connection.pragma('fullfsync = ON');
}

/**
 * Creates the database file so that only its owner can read it; SQLite gives the files beside it the same
 * mode. Never opens an existing file: closing it would release the locks that this process holds on it
 * (POSIX).
 */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      throw new StorageUnavailableError(`the directory ${dirname(path)} does not exist; make it first`, {
        cause: error,
      });
    }
    if (codeOf(error) !== 'EEXIST') throw error;
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) {
      const target = resolve(dirname(path), readlinkSync(path));
      throw new StorageUnavailableError(
        `${path} is a link to ${target}, which does not exist; name ${target} itself, or remove the link`,
      );
    }
    if (status.isDirectory()) {
      throw new StorageUnavailableError(
        `${path} is a directory; name a file in it, such as ${join(path, 'ostiary.db')}`,
      );
    }
  }
}
