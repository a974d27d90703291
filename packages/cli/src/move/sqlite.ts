import { MoveError } from './errors.ts';

/** What is used of a database of `better-sqlite3`. */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly readonly: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  pragma(sql: string, options?: { simple?: boolean }): unknown;
}

/** What is used of one of its statements. */
export interface SqliteStatement {
  raw(toggle?: boolean): this;
  safeIntegers(toggle?: boolean): this;
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  columns(): readonly { readonly name: string; readonly type: string | null }[];
}

/** The migrations of `@ostiary/adapter-sqlite` whose tables this version knows, with their SHA-256. */
export const knownMigrations: readonly (readonly [name: string, checksum: string])[] = [
  ['0001_initial.sql', '38410466d6348cbb5c4b7fc7eb5fdc5d0b46af63885c832929b8e412dbacf7ed'],
  ['0002_last-use.sql', 'ce19519e230866430b81a1c7c87beec8cd37ec2a46b92d186c9e13087e3d3366'],
  ['0003_refresh-tokens.sql', '86bf94be9da437453dacba81bc11ffb75af0f51e23ee6f40b9e849425f0daa4f'],
  ['0004_client-logos.sql', '191deaa80d89e6e3508496931b7ff967b59acc450ee9addaa226d228a130dd6f'],
  ['0005_revoked-consents.sql', 'd0a984704a1c711f8e1fa9951503b1c23380f9bd2f1ce18920815ad6af39b3c3'],
  ['0006_request-log.sql', '96fc0fd93a3674e4a21ff5319d6bb092b949dacfb1ff3c6bf3cf8bb716abf835'],
  ['0007_sandbox-records.sql', '65521b5100595c516f19d0e3ec0f3374b5c890201905f1d1d5a630d1c4772a81'],
  ['0008_session-ids.sql', '844b17b74e6efc9ce51fcae09ff2672ff8526cdff8608f95db38d7d4bbf88629'],
  ['0009_interaction-answers.sql', '06f104529ae375d727ac4876e08c34b967a2c9025c9f7d5e98a56d1efdf857ec'],
  ['0010_refresh-families.sql', '01c6fce43fb50f87779776ae36aab87f9a5f91b71f284463364129ee09f5afa2'],
  ['0011_cut-off-attempts.sql', 'd08041f92329eae9ecf975e436fe2b0dce76e5e7f5cba085a18948c9b0cc16fe'],
  ['0012_job-owners.sql', 'b04729caff25e09ca5a285756afe7bc7cf39a496734350d767c7cb7452a6e538'],
];

/**
 * Runs work while nobody else has the file open, on one snapshot of it, which it only reads.
 *
 * A snapshot alone would not do: a server that is only idle would go on writing to the old file afterwards, and what it
 * writes would be lost. In WAL mode every connection that ever read keeps a shared lock on the file, also while it
 * does nothing, so that an exclusive one is only given when there is no other connection, of this process or of any
 * other. It is kept until the end: nobody can open the file meanwhile, not even to read. A connection that was opened for
 * reading cannot ask for it, nor can it bring in what a server that was killed has left in the write-ahead log.
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
    // Who has the file open will not close it while this process stands still.
    database.pragma('busy_timeout = 0');
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    unlock(database);
    if (!codeOf(error).startsWith('SQLITE_BUSY')) throw error;
    throw new MoveError(
      'the SQLite file is in use: stop every process that has it open (servers, workers, command lines, backups)',
      { cause: error },
    );
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}

/** Takes effect with the next read. A connection that was never used before keeps its lock until it is closed. */
function unlock(database: SqliteDatabase): void {
  try {
    database.pragma('locking_mode = NORMAL');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch {
    // What has gone wrong before is what the caller hears of.
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
          `@ostiary/adapter-postgres can move ${knownMigrations.length}: upgrade the package`,
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
