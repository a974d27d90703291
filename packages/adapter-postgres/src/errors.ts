/**
 * The database could not do what it was asked for: it cannot be reached, is too busy, full, broken, not opened or
 * closed. What PostgreSQL or the driver said is in `cause`; requests are answered with 503.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** What a caller gets to see of anything that was thrown on the way to the database. */
export function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StorageUnavailableError(`the PostgreSQL database failed: ${detail}`, { cause });
}

/** The SQLSTATE of an error that the server sent, or the empty string for any other error. */
export function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // Codes of Node's such as EPIPE begin with a letter that no class of SQLSTATE begins with.
  return typeof code === 'string' && /^[0-9FHPX][0-9A-Z]{4}$/.test(code) ? code : '';
}

/** The transaction lost against another one and was rolled back: the same again can succeed. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlStateOf(error));
}

/** A prepared statement is not there, or is already: a pooler has given the connection to others meanwhile. */
export function isNameConflict(error: unknown): boolean {
  return ['26000', '42P05'].includes(sqlStateOf(error));
}

/**
 * Whether the connection is of no further use: broken, ended by the server, or to a server that turned into a
 * replica, whose successor only a new connection finds.
 */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === '' || /^(?:08|57P|58|XX)/.test(state) || ['25006', '25P03', '25P04'].includes(state);
}

/** What the server or the driver said, without what was made of it for callers. */
const causeOf = (error: unknown): unknown => (error instanceof StorageUnavailableError ? error.cause : error);

/** Another transaction held for too long what the statement wanted to lock; the connection is good. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(causeOf(error)) === '55P03';
}

/** One statement was to write a row twice: two of those that it was made of belong to the same. */
export function isRepeatedInOne(error: unknown): boolean {
  return sqlStateOf(causeOf(error)) === '21000';
}

/** Somebody else has stored a row with the same values of this unique index. */
export function isTaken(error: unknown, index: string): boolean {
  const cause = causeOf(error);
  return sqlStateOf(cause) === '23505' && Reflect.get(Object(cause), 'constraint') === index;
}

/** PostgreSQL refused what was to be stored, as it would refuse it again: a value, or a constraint. */
export function isOfTheData(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(causeOf(error)));
}
