/*
 * Access to the database for the tables of this server, in plain SQL that SQLite and PostgreSQL share.
 *
 * - Parameters are named, `:sub`. A table is written `app_users`; on PostgreSQL that is the table `users` of a schema.
 * - `ON CONFLICT`, `RETURNING`, `CASE` and `coalesce` mean the same in both; `max(a, b)` does not.
 * - Money is read with `CAST(balance AS TEXT)`: a 64-bit integer is more than a number of JavaScript holds.
 * - The statement that decides something also locks the deciding rows, with a conditional `UPDATE` or an insert into a
 *   unique index, because on PostgreSQL other transactions commit between two statements.
 */

/** Type of a parameter. Times are milliseconds since the Unix epoch. */
export type Value = string | number | bigint | Buffer | null;

/** Values of named parameters. */
export type Values = Readonly<Record<string, Value>>;

/** Reads from the database. */
export interface Queries {
  /** @throws DatabaseUnavailable */
  all<Row extends object>(sql: string, values?: Values): Promise<Row[]>;
  /** The first row. @throws DatabaseUnavailable */
  get<Row extends object>(sql: string, values?: Values): Promise<Row | undefined>;
}

/** Runs work in a transaction. */
export interface Transaction extends Queries {
  /**
   * Runs a statement that answers no rows.
   *
   * @returns how many rows were changed
   * @throws UniqueViolation
   */
  run(sql: string, values?: Values): Promise<number>;
  /** Runs several statements as they stand, for migrations. */
  script(sql: string): Promise<void>;
  /** The driver's own connection, for what Ostiary publishes in this transaction. */
  readonly handle: unknown;
}

/** The tables of this server, next to those of Ostiary in the same database. */
export interface Database extends Queries {
  /** Schema of the tables on PostgreSQL; `null` on SQLite. */
  readonly schema: string | null;
  /**
   * Runs `work` in one short transaction and resolves when it is committed; what it throws takes everything back.
   * It awaits nothing but its own statements, and changes nothing but rows.
   *
   * @throws DatabaseUnavailable
   */
  write<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: { readonly patienceMs?: number },
  ): Promise<Result>;
  /** Connections of this process, where there is a pool of them. */
  connections?(): { readonly idle: number; readonly used: number; readonly waiting: number };
  /** An expression as it is compared where upper and lower case (of ASCII) are the same. */
  caseless(expression: string): string;
  /** @throws DatabaseUnavailable */
  ping(): Promise<void>;
  /** Repeatable. */
  close(): Promise<void>;
}

/** The database did not answer; nothing was changed, or only the database knows whether a commit took place. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** Ostiary answers errors with this code with 503, wherever they come from. */
  readonly code = 'STORAGE_UNAVAILABLE';

  constructor(cause: unknown) {
    super(`the database cannot be used (${cause instanceof Error ? cause.message : 'unknown error'})`, {
      cause,
    });
  }
}

/** Error for a value that already exists and must be unique. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  /** The column that refused it, such as `phone`. */
  readonly column: string;

  constructor(column: string, cause: unknown) {
    super(`this value of ${column} is taken`, { cause });
    this.column = column;
  }
}
