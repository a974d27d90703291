/**
 * The move was refused or did not succeed, and PostgreSQL is as it was before. Messages are for operators: they name the
 * table and, where a row is to blame, its key. What SQLite, PostgreSQL or the driver said is in `cause`.
 */
export class MoveError extends Error {
  override readonly name = 'MoveError';
  readonly code = 'MOVE_FAILED';
}

/** Converts anything that was thrown during the move to an error for the caller. */
export function moveFailed(error: unknown): Error {
  if (error instanceof MoveError || error instanceof TypeError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new MoveError(`nothing was moved: ${detail}`, { cause: error });
}
