/**
 * The database could not do what it was asked for: it cannot be reached, is too busy, full, broken, not opened or
 * closed. What PostgreSQL or the driver said is in `cause`; requests are answered with 503.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** Wraps an error of the server or the driver for callers. */
export function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  if (isReadOnlyServer(cause)) return takesNoWrites(cause);
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StorageUnavailableError(`the PostgreSQL database failed: ${detail}`, { cause });
}

/** The SQLSTATE of an error that the server sent, or the empty string for any other error. */
export function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // Codes of Node's such as EPIPE begin with a letter that no class of SQLSTATE begins with.
  return typeof code === 'string' && /^[0-9FHPX][0-9A-Z]{4}$/.test(code) ? code : '';
}

/** Error for a server that is not the primary. */
export function takesNoWrites(cause?: unknown): StorageUnavailableError {
  return new StorageUnavailableError(
    'the PostgreSQL server takes no writes: it is a standby, or default_transaction_read_only is on',
    { cause },
  );
}

/** Name of a parameter that no server has: a server that takes no writes refuses statements with it, see primary.ts. */
export const noWritesParameter = 'ostiary.server_takes_no_writes';

/** Checks whether a server refused a statement because it takes no writes. Nothing was changed then, and another server may be the primary. */
export function isReadOnlyServer(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === '42704') return error instanceof Error && error.message.includes(noWritesParameter);
  // Planning reads unlogged tables, which a standby does not have, and fails before the guard of the statement is evaluated.
  if (state === '0A000') return Reflect.get(Object(error), 'routine') === 'get_relation_info';
  return state === '25006';
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
 * Checks whether an error leaves the connection unusable: it broke, the server ended it, or the server became
 * a standby, whose successor only a new connection finds.
 */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === '' || /^(?:08|57P|58|XX)/.test(state) || ['25P03', '25P04'].includes(state)) return true;
  return isReadOnlyServer(error);
}

/**
 * Checks whether the server ended the connection while it waited for a statement: idle_session_timeout and
 * idle_in_transaction_session_timeout. The statement that got this error has not run.
 */
export function endedIdle(error: unknown): boolean {
  return ['57P05', '25P03'].includes(sqlStateOf(error));
}

/**
 * SQLSTATEs of a connection that cannot be made at the moment. 08…: a pooler or proxy has no server (PgBouncer says everything with
 * 08P01: no server, a failed login, too many clients). 53300: too many connections of the server, the database or the role, or of
 * PgBouncer. 53400, 55000: a limit of a managed service, a database that takes no connections now. 57P01 to 57P05: the server stops,
 * has crashed, or starts.
 */
const notNow = /^(?:08...|53300|53400|55000|57P0[1-5])$/;

/** Errors of the network for a server that is not there yet; ENOENT for a socket in the file system. */
const notThere =
  /^(?:EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTDOWN|EHOSTUNREACH|ENETDOWN|ENETUNREACH|ENOENT|EPIPE|ETIMEDOUT)$/;

/** Errors of `pg` without a code for a connection that was not made in time, or ended meanwhile. */
const notMade = /\btimeout\b|^Connection terminated/;

/** Checks whether a connection that failed may succeed in a moment. A wrong password or database name never does. */
export function mayComeUp(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlStateOf(error);
  if (state !== '') return notNow.test(state);
  const code = 'code' in error ? String(error.code) : '';
  return error instanceof StorageUnavailableError || notThere.test(code) || notMade.test(error.message);
}

/** Returns the error of the server or the driver, without the wrapper for callers. */
const causeOf = (error: unknown): unknown => (error instanceof StorageUnavailableError ? error.cause : error);

/** Another transaction held for too long what the statement wanted to lock; the connection is good. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(causeOf(error)) === '55P03';
}

/** A batch was to write a row twice, because two of its calls belong to the same row. */
export function isRepeatedInOne(error: unknown): boolean {
  return sqlStateOf(causeOf(error)) === '21000';
}

/** Somebody else has stored a row with the same values of this unique index. */
export function isTaken(error: unknown, index: string): boolean {
  const cause = causeOf(error);
  return sqlStateOf(cause) === '23505' && Reflect.get(Object(cause), 'constraint') === index;
}

/** PostgreSQL refused what was to be stored, as it would refuse it again: a value, or a constraint. */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(causeOf(error)));
}
