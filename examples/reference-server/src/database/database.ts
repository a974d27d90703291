/*
 * Access to the database for the tables of this server, in plain SQL that SQLite and PostgreSQL share.
 *
 * - Parameters are named, `:sub`. A table is written `app_users`; on PostgreSQL that is the table `users` of
 *   a schema.
 * - `ON CONFLICT`, `RETURNING`, `CASE` and `coalesce` mean the same in both; `max(a, b)` does not.
 * - Money is read with `CAST(balance AS TEXT)`: a 64-bit integer is more than a number of JavaScript holds.
 * - The statement that decides something also locks the deciding rows, with a conditional `UPDATE` or an
 *   insert into a unique index, because on PostgreSQL other transactions commit between two statements.
 */

/** Type of a statement's parameter. Times are milliseconds since the Unix epoch. */
export type Value = string | number | bigint | Buffer | null;

/** Values of a statement's named parameters. */
export type Values = Readonly<Record<string, Value>>;

/** Functions that read from the database. */
export interface Queries {
  /** Returns all rows of a query. @throws DatabaseUnavailable */
  all<Row extends object>(sql: string, values?: Values): Promise<Row[]>;
  /** Returns the first row of a query, if there is one. @throws DatabaseUnavailable */
  get<Row extends object>(sql: string, values?: Values): Promise<Row | undefined>;
}

/** A transaction of {@link Database.write}. */
export interface Transaction extends Queries {
  /**
   * Runs a statement that returns no rows.
   *
   * @returns the number of changed rows
   * @throws UniqueViolation or DatabaseUnavailable
   */
  run(sql: string, values?: Values): Promise<number>;
  /** Runs several statements at once, for migrations. */
  script(sql: string): Promise<void>;
  /** Connection of the database driver, with which Ostiary's events are published in this transaction. */
  readonly handle: unknown;
}

/** Database with the tables of this server, next to those of Ostiary. */
export interface Database extends Queries {
  /** PostgreSQL schema of this server's tables; `null` on SQLite. */
  readonly schema: string | null;
  /**
   * Runs the function `work` in one short transaction, and resolves once the transaction is committed. An
   * error of `work` rolls the transaction back. `work` must be short, await only its own statements, and
   * change only rows.
   *
   * @throws DatabaseUnavailable
   */
  write<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: { readonly patienceMs?: number },
  ): Promise<Result>;
  /** Returns the numbers of this process's database connections, if the process has a pool. */
  connections?(): {
    readonly idle: number;
    readonly used: number;
    readonly waiting: number;
    readonly max: number;
  };
  /** Returns an SQL expression that ignores the case of ASCII letters. */
  caseless(expression: string): string;
  /** Checks that the database responds. @throws DatabaseUnavailable if the database does not respond */
  ping(): Promise<void>;
  /** Closes the database. May be called again. */
  close(): Promise<void>;
}

/**
 * Error for a database that did not respond or cannot be used. Either nothing was changed, or it is unknown
 * whether a commit took place.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** Error code to which Ostiary responds with 503. */
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
  /** Name of the column whose value must be unique, such as `phone`. */
  readonly column: string;

  constructor(column: string, cause: unknown) {
    super(`this value of ${column} is taken`, { cause });
    this.column = column;
  }
}
