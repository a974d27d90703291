/**
 * The database could not do what it was asked for: it is locked by another process, full, broken, not opened
 * or closed. Nothing was changed. What SQLite said is in `cause`; requests are answered with 503.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** Converts anything that was thrown on the way to the database to an error for the caller. */
export function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StorageUnavailableError(`the SQLite database failed: ${detail}`, { cause });
}
