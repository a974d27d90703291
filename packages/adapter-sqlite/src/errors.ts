/**
 * Thrown if the database cannot do what was requested: it is locked by another connection, full, broken, not
 * opened or closed. Nothing was changed, except by a purge, which may have removed rows before it failed.
 * `cause` is the error of SQLite, if there was one. HTTP requests get a 503.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** Converts any error of a database call to the error that its caller gets. */
export function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StorageUnavailableError(`the SQLite database failed: ${detail}`, { cause });
}
