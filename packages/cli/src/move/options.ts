import type { PostgresPool } from '@ostiary/adapter-postgres';
import type { SqliteDatabase } from './sqlite.ts';
import type { TableMove } from './tables.ts';

/** Progress of a move. */
export interface MoveProgress {
  readonly table: string;
  readonly step: 'copying' | 'verifying';
  /** Rows of this table that are done in this step. */
  readonly rows: number;
  /** Number of rows. */
  readonly of: number;
}

/**
 * Tables of the host in the same SQLite file. They are moved in the same transaction and compared in the same
 * way. On PostgreSQL they must exist and be empty.
 */
export interface HostTables {
  /** The PostgreSQL schema that they are in. */
  readonly schema: string;
  /** Each after those that it refers to. */
  readonly tables: readonly TableMove[];
}

/** Options of a check of the source. */
export interface CheckOptions {
  /**
   * The SQLite file: a `Database` of `better-sqlite3`, opened for reading and writing although it is only
   * read. The file must not be open elsewhere. Close it afterwards, because other processes may not be able
   * to open it until then.
   */
  readonly from: SqliteDatabase;
  readonly host?: HostTables;
  /** Called after each batch of rows. What it throws ends the move. */
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** Source and target of a move. */
export interface MoveOptions extends CheckOptions {
  /** Pool of the host, such as a `Pool` of `pg`. The host ends it. */
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
