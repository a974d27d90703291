import { MoveError } from './errors.ts';

/** The part of a `better-sqlite3` database that a move uses. */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly readonly: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  pragma(sql: string, options?: { simple?: boolean }): unknown;
}

/** The part of a prepared statement that a move uses. */
export interface SqliteStatement {
  raw(toggle?: boolean): this;
  safeIntegers(toggle?: boolean): this;
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  columns(): readonly { readonly name: string; readonly type: string | null }[];
}

/** Migrations of `@ostiary/adapter-sqlite` whose tables the move knows, with their SHA-256. */
export const knownMigrations: readonly (readonly [name: string, checksum: string])[] = [
  ['0001_initial.sql', 'c5a0af8ac227c1227b8904d4d94601ba7b94a95e2f8d9cd06c753d76115397d0'],
];

/**
 * Runs a function on a read-only snapshot of the SQLite file, while no other process has the file open.
 *
 * A snapshot alone is not enough: an idle server could later write to the old file, and its writes would be lost. In WAL
 * mode every connection that has ever read keeps a shared lock on the file, even while idle. SQLite therefore grants an
 * exclusive lock only if there is no other connection, in this process or any other. The lock is held until the end:
 * meanwhile no process can open the file, not even to read. The connection must be opened for writing: a read-only one
 * can neither take the lock nor recover the write-ahead log that a killed server has left.
 */
export async function held<T>(database: SqliteDatabase, work: () => Promise<T>): Promise<T> {
  lock(database);
  try {
    database.pragma('query_only = ON');
    assertKnown(database);
    assertSound(database);
    return await work();
  } finally {
    database.pragma('query_only = OFF');
    if (database.inTransaction) database.exec('ROLLBACK');
    unlock(database);
  }
}

function lock(database: SqliteDatabase): void {
  const timeout = database.pragma('busy_timeout', { simple: true });
  try {
    // Another process that has the file open will not close it while this process blocks.
    database.pragma('busy_timeout = 0');
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    unlock(database);
    if (codeOf(error) === 'SQLITE_NOTADB')
      throw new MoveError('the file is not an SQLite database', { cause: error });
    if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error;
    throw new MoveError(
      'the SQLite file is in use: stop every process that has it open (servers, workers, command lines, backups)',
      { cause: error },
    );
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}

/**
 * Releases the exclusive lock on the SQLite file, with the next read. A connection that was never used before
 * keeps its lock until it is closed.
 */
function unlock(database: SqliteDatabase): void {
  try {
    database.pragma('locking_mode = NORMAL');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch {
    // Throw the earlier error, not this one.
  }
}

function assertKnown(database: SqliteDatabase): void {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  if (isThere === undefined) {
    throw new MoveError('the SQLite file holds no data of Ostiary: it has no table schema_migrations');
  }
  const applied = database
    .prepare('SELECT name, checksum FROM schema_migrations ORDER BY number')
    .raw()
    .all() as [string, string][];
  for (const [index, [name, checksum]] of applied.entries()) {
    const known = knownMigrations[index];
    if (known === undefined) {
      throw new MoveError(
        `the SQLite file has schema ${applied.length} (${applied.at(-1)?.[0]}) and this version of ` +
          `@ostiary/cli can move ${knownMigrations.length}: upgrade the package`,
      );
    }
    if (known[0] !== name || known[1] !== checksum) {
      throw new MoveError(
        `the SQLite file has another migration ${name} than the released one: it cannot be moved`,
      );
    }
  }
  if (applied.length < knownMigrations.length) {
    throw new MoveError(
      `the SQLite file has schema ${applied.length} and ${knownMigrations.length} is needed: start this version of ` +
        'the server on it once, which brings it up to date, stop it, and move then',
    );
  }
}

function assertSound(database: SqliteDatabase): void {
  const found = database.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new MoveError(`the SQLite file is damaged: ${found}`);
  const orphan = database.prepare('SELECT "table", parent FROM pragma_foreign_key_check LIMIT 1').raw().get();
  if (Array.isArray(orphan)) {
    throw new MoveError(
      `the SQLite file is damaged: a row of ${orphan[0]} refers to a missing one of ${orphan[1]}`,
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
