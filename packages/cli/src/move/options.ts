import type { PostgresPool } from '@ostiary/adapter-postgres';
import type { SqliteDatabase } from './sqlite.ts';
import type { TableMove } from './tables.ts';

/** How far a move is. */
export interface MoveProgress {
  readonly table: string;
  readonly step: 'copying' | 'verifying';
  /** Rows of this table that are done in this step. */
  readonly rows: number;
  /** How many it has. */
  readonly of: number;
}

/**
 * Tables of the host's own that are in the same SQLite file, moved along in the same transaction and compared in the same
 * way. On PostgreSQL they exist and are empty.
 */
export interface HostTables {
  /** The PostgreSQL schema that they are in. */
  readonly schema: string;
  /** Each after those that it refers to. */
  readonly tables: readonly TableMove[];
}

/** What a check of the source needs. */
export interface CheckOptions {
  /**
   * The SQLite file: a `Database` of `better-sqlite3`, opened for reading and writing although nothing is written. The
   * file must be open nowhere else. Close it afterwards: until then nobody else may be able to open it.
   */
  readonly from: SqliteDatabase;
  readonly host?: HostTables;
  /** Called after each batch of rows. What it throws ends the move. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** Where the data is and where it goes. */
export interface MoveOptions extends CheckOptions {
  /** A pool of the host's, such as a `Pool` of `pg`; it is the host's to end. */
  readonly pool: PostgresPool;
  /**
   * The schema of Ostiary's tables, created when it is missing.
   * @defaultValue 'ostiary'
   */
  readonly schema?: string;
}

/** Options after they were checked. */
export type ParsedMove = MoveOptions & { readonly schema: string };

/** Checks what the caller passed; throws a `TypeError` that names the option. */
export function parseMove(options: MoveOptions): ParsedMove {
  const { from, pool, schema = 'ostiary', host: _, onProgress: __, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`moveFromSqlite: unknown option ${JSON.stringify(unknown)}`);
  assertUsable(from);
  if (typeof pool?.connect !== 'function')
    throw new TypeError('moveFromSqlite: options.pool must have a method connect(), like pg.Pool');
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new TypeError('moveFromSqlite: options.schema must match [a-z_][a-z0-9_]{0,62}');
  return { ...options, schema };
}

/** @throws TypeError for a handle on which the file cannot be held */
export function assertUsable(from: SqliteDatabase): void {
  const isDatabase =
    typeof from === 'object' && from !== null && ['prepare', 'exec', 'pragma'].every((name) => name in from);
  if (!isDatabase || !from.open) {
    throw new TypeError('moveFromSqlite: options.from must be an open Database of better-sqlite3');
  }
  if (from.readonly) {
    throw new TypeError(
      'moveFromSqlite: options.from must not be opened read-only: only a connection that could write can make sure ' +
        'that nobody else has the file open',
    );
  }
  if (from.inTransaction) throw new TypeError('moveFromSqlite: options.from must be in no transaction');
}
