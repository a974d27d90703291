/**
 * Thrown if the database cannot do what was requested: it is locked by another process, full, broken, not
 * opened or closed. Nothing was changed. `cause` has the error of SQLite. Requests get a 503.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** Converts anything thrown by a database call to the error for its caller. */
export function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StorageUnavailableError(`the SQLite database failed: ${detail}`, { cause });
}
