import type { PostgresClient, PostgresPool } from '@ostiary/adapter-postgres';
import type { SqliteDatabase } from './sqlite.ts';
import type { TableMove } from './tables.ts';

/** Progress of a move, or of a check of the SQLite file. */
export interface MoveProgress {
  readonly table: string;
  readonly step: 'copying' | 'verifying';
  /** Number of rows of the table that were processed so far. */
  readonly rows: number;
  /** Total number of rows of the table. */
  readonly of: number;
}

/**
 * Tables of the host application in the same SQLite file. They are moved in the same transaction and compared
 * in the same way. On PostgreSQL they must be empty.
 */
export interface HostTables {
  /** PostgreSQL schema that contains the host application's tables. */
  readonly schema: string;
  /** Tables of the host application to move, each after the tables to which it refers. */
  readonly tables: readonly TableMove[];
  /**
   * Creates the tables on PostgreSQL, in the transaction of the move, so that a failed move leaves nothing behind.
   * Must not begin, commit or roll back a transaction.
   * @defaultValue the tables must exist already
   */
  create?(client: PostgresClient): Promise<void>;
}

/** Options of a check of the SQLite file. */
export interface CheckOptions {
  /**
   * The SQLite file: a `Database` of `better-sqlite3`, opened for reading and writing although the move only
   * reads. No other process may have the file open. Close it after the move, because other processes may not
   * be able to open it until then.
   */
  readonly from: SqliteDatabase;
  readonly host?: HostTables;
  /** Function that is called after each batch of rows. An error that this function throws ends the move. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** Source and target of a move. */
export interface MoveOptions extends CheckOptions {
  /** Pool of the host application, such as a `Pool` of `pg`. The host ends it. */
  readonly pool: PostgresPool;
  /**
   * PostgreSQL schema of Ostiary's tables, created if it is missing.
   * @defaultValue 'ostiary'
   */
  readonly schema?: string;
}

/** Checked options of a move. */
export type ParsedMove = MoveOptions & { readonly schema: string };

/** Checks the options of a move. @throws TypeError that names the wrong option */
export function parseMove(options: MoveOptions): ParsedMove {
  const { from, pool, schema = 'ostiary', host: _, onProgress: __, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`moveFromSqlite: unknown option ${JSON.stringify(unknown)}`);
  assertUsable(from, 'moveFromSqlite');
  if (typeof pool?.connect !== 'function')
    throw new TypeError('moveFromSqlite: options.pool must have a method connect(), like pg.Pool');
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new TypeError('moveFromSqlite: options.schema must match [a-z_][a-z0-9_]{0,62}');
  return { ...options, schema };
}

/**
 * Checks that a database handle can lock the SQLite file.
 *
 * @param caller - name of the public function, with which messages begin
 * @throws TypeError if the database handle cannot lock the file
 */
export function assertUsable(from: SqliteDatabase, caller: 'moveFromSqlite' | 'checkSqlite'): void {
  const isDatabase =
    typeof from === 'object' && from !== null && ['prepare', 'exec', 'pragma'].every((name) => name in from);
  if (!isDatabase || !from.open) {
    throw new TypeError(`${caller}: options.from must be an open Database of better-sqlite3`);
  }
  if (from.readonly) {
    throw new TypeError(
      `${caller}: options.from must not be opened read-only: only a connection that could write can make sure ` +
        'that no other process has the file open',
    );
  }
  if (from.inTransaction) throw new TypeError(`${caller}: options.from must be in no transaction`);
}
