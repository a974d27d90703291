/**
 * Error of a move that was refused or failed. PostgreSQL is as it was before, unless the message says that
 * the connection broke during the commit: then the outcome is unknown. The message is for operators: it names
 * the table and, if a row caused the error, the row's key. `cause` has the error of SQLite, PostgreSQL or the
 * driver.
 */
export class MoveError extends Error {
  override readonly name = 'MoveError';
  readonly code = 'MOVE_FAILED';
}

/** Converts any error of the move to the error that the caller gets. */
export function moveFailed(error: unknown): Error {
  if (error instanceof MoveError || error instanceof TypeError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new MoveError(`nothing was moved: ${detail}`, { cause: error });
}
