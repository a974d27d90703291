import { type BigIntStats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Connection } from './connection.ts';
import { StorageUnavailableError } from './errors.ts';

/**
 * Returns a check that throws when the file of an open better-sqlite3 connection, or its `-wal` or `-shm` file in WAL
 * mode, was moved, deleted, emptied or replaced. SQLite keeps writing into the file that it has opened, and nothing of
 * that is there after a restart. For hosts that have tables of their own in the file of this storage: call the check in each
 * transaction, right before it commits, and roll back when the check throws. A check takes about 5 µs. A database in memory always
 * passes. A file that is overwritten in place keeps its inode number, and passes.
 *
 * @throws StorageUnavailableError from the check, with the path and what to do
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
export function fileGuard(connection: Connection): () => void {
  if (connection.memory) return () => undefined;
  // A first read, so that SQLite has made the other files of WAL mode.
  connection.prepare('SELECT 1 FROM sqlite_schema').get();
  const target = openedFile(connection);
  // The connection may have been opened by a link. SQLite names the other files after the link's target.
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

/** Returns the absolute path of the file that a connection has opened, without links. */
export function openedFile(connection: Connection): string {
  const file = connection.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'").pluck().get();
  return String(file);
}

/**
 * Checks whether two paths are the same file. An open file keeps its inode number, which no new file can get
 * meanwhile.
 */
export function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** Returns `undefined` when there is no such file. */
export function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function lost(name: string, accident: string, remedy: string): StorageUnavailableError {
  return new StorageUnavailableError(
    `the database file ${name} was ${accident} while this process had it open; ${remedy}`,
  );
}
