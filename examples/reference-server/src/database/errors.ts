/** The database did not answer; nothing was changed, or only the database knows whether a commit took place. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** Ostiary answers errors with this code with 503, wherever they come from. */
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** A value that has to be unique is there already. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';
  /** The column that refused it, such as `phone`. */
  readonly column: string;

  constructor(column: string, options: ErrorOptions) {
    super(`this value of ${column} is taken`, options);
    this.column = column;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
