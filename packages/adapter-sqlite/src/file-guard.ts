import { type BigIntStats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { StorageUnavailableError } from './errors.ts';

/**
 * Members of a connection of better-sqlite3 that {@link fileGuard} uses. better-sqlite3 has no types of its
 * own, and a host may lack `@types/better-sqlite3`.
 */
export interface SqliteConnection {
  readonly memory: boolean;
  readonly name: string;
  pragma(source: string, options: { readonly simple: true }): unknown;
  prepare(source: string): { get(): unknown; pluck(): { get(): unknown } };
}

/**
 * Returns a function that throws if the file of an open better-sqlite3 connection, or its `-wal` or `-shm`
 * file in WAL mode, was moved, deleted or replaced, or if the database file was emptied. SQLite would keep writing into the file that it
 * has opened, and after a restart those writes would be gone. For hosts that have their own tables in this
 * storage's file: call the function in each transaction, right before it commits, and roll back if it throws.
 * A call takes about 5 µs. A database in memory always passes. A file that is overwritten in place keeps its
 * inode number, and passes.
 *
 * @throws StorageUnavailableError, from the returned function, with the path and advice
 *
 * @example
 * ```ts
 * import { fileGuard } from '@ostiary/adapter-sqlite';
 * import Database from 'better-sqlite3';
 *
 * const database = new Database('ostiary.db');
 * const assertFileInPlace = fileGuard(database);
 * database.exec('CREATE TABLE IF NOT EXISTS users (name TEXT)');
 * const addUser = database.transaction((name: string) => {
 *   database.prepare('INSERT INTO users VALUES (?)').run(name);
 *   assertFileInPlace();
 * });
 * addUser('Ana');
 * ```
 */
export function fileGuard(connection: SqliteConnection): () => void {
  if (connection.memory) return () => undefined;
  // Read once, so that SQLite creates the other files of WAL mode.
  connection.prepare('SELECT 1 FROM sqlite_schema').get();
  const target = openedFile(connection);
  // The connection may have been opened through a link. SQLite names the other files after the link's target.
  const databases = [...new Set([resolve(connection.name), target])];
  const isWal = connection.pragma('journal_mode', { simple: true }) === 'wal';
  const watched = [...databases, ...(isWal ? [`${target}-wal`, `${target}-shm`] : [])].flatMap((name) => {
    const opened = statOf(name);
    return opened === undefined ? [] : [{ name, opened, isDatabase: databases.includes(name) }];
  });

  return () => {
    for (const { name, opened, isDatabase } of watched) {
      const current = statOf(name);
      if (current === undefined) throw lost(name, 'moved or deleted', 'put it back, or restart this process');
      if (!isSameFile(opened, current)) {
        throw lost(name, 'replaced by another file', 'restart this process to use that one');
      }
      // A checkpoint may empty the `-wal` file, but the database always keeps its first page.
      if (isDatabase && current.size === 0n) {
        throw lost(name, 'emptied', 'stop this process and restore a backup');
      }
    }
  };
}

/** Returns the absolute path of the file that a connection has opened, with symbolic links resolved. */
export function openedFile(connection: SqliteConnection): string {
  const file = connection.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'").pluck().get();
  return String(file);
}

/**
 * Checks whether two file statuses belong to the same file. An open file keeps its inode number, which no new
 * file can get in the meantime.
 */
export function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** Returns the file system's status of a file; `undefined` if there is no file. */
export function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function lost(name: string, accident: string, remedy: string): StorageUnavailableError {
  return new StorageUnavailableError(
    `the database file ${name} was ${accident} while this process had it open; ${remedy}`,
  );
}
