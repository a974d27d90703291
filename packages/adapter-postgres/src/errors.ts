/**
 * Thrown if the database cannot do what was requested: it cannot be reached, is too busy, full, broken, not
 * opened or closed. `cause` is the error of PostgreSQL or the driver, if there was one. HTTP requests get a 503.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/** Converts an error of the server or the driver to the error that callers of the storage get. */
export function unavailable(cause: unknown): StorageUnavailableError {
  if (cause instanceof StorageUnavailableError) return cause;
  if (isReadOnlyServer(cause)) return takesNoWrites(cause);
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new StorageUnavailableError(`the PostgreSQL database failed: ${detail}`, { cause });
}

/** Returns the SQLSTATE of an error from the server, or the empty string for any other error. */
export function sqlStateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // Codes of Node's errors, such as EPIPE, begin with letters that no class of SQLSTATE begins with.
  return typeof code === 'string' && /^[0-9FHPX][0-9A-Z]{4}$/.test(code) ? code : '';
}

/** Creates the error for a connection to a server that accepts no writes. */
export function takesNoWrites(cause?: unknown): StorageUnavailableError {
  return new StorageUnavailableError(
    'the PostgreSQL server takes no writes: it is a standby, or default_transaction_read_only is on',
    { cause },
  );
}

/**
 * Name of a setting that does not exist on any server, so that reading it fails. Statements read it only on a
 * server that accepts no writes, and fail there; see primary.ts.
 */
export const noWritesParameter = 'ostiary.server_takes_no_writes';

/**
 * Checks whether a server refused a statement because it accepts no writes. Nothing was changed then, and
 * another server may be the primary.
 */
export function isReadOnlyServer(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state === '42704') return error instanceof Error && error.message.includes(noWritesParameter);
  // On a standby, planning fails first for unlogged tables, which it does not have.
  if (state === '0A000') return Reflect.get(Object(error), 'routine') === 'get_relation_info';
  return state === '25006';
}

/**
 * Checks whether a transaction was rolled back because it conflicted with another one, so that a retry can
 * succeed.
 */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlStateOf(error));
}

/**
 * Checks whether a prepared statement is missing or exists already, because a pooler gave the connection to
 * another client in the meantime.
 */
export function isNameConflict(error: unknown): boolean {
  return ['26000', '42P05'].includes(sqlStateOf(error));
}

/**
 * Checks whether a connection must be closed after an error: it may be broken (any error without an
 * SQLSTATE), the server failed or ended it, or the server became a standby, whose successor only a new
 * connection finds.
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
 * SQLSTATEs of a server that accepts no connection at the moment. 08…: a pooler or proxy has no server
 * (PgBouncer reports everything with 08P01: no server, a failed login, too many clients). 53300: too many
 * connections of the server, the database or the role, or of PgBouncer. 53400, 55000: a limit of a managed
 * service, a database that accepts no connections now. 57P01 to 57P05: the server stops, has crashed, or
 * starts, the database was dropped, or the session was idle for too long.
 */
const notNow = /^(?:08...|53300|53400|55000|57P0[1-5])$/;

/** Codes of network errors for a server that is not running yet; ENOENT for a missing Unix socket. */
const notThere =
  /^(?:EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTDOWN|EHOSTUNREACH|ENETDOWN|ENETUNREACH|ENOENT|EPIPE|ETIMEDOUT)$/;

/**
 * Matches errors of `pg` without a code, for a connection that was not made in time, or that ended in the
 * meantime.
 */
const notMade = /\btimeout\b|^Connection terminated/;

/**
 * Checks whether a connection that failed may succeed in a moment. For a wrong password or database name
 * returns `false`, unless PgBouncer reports it, whose errors all have one SQLSTATE.
 */
export function mayComeUp(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlStateOf(error);
  if (state !== '') return notNow.test(state);
  const code = 'code' in error ? String(error.code) : '';
  return error instanceof StorageUnavailableError || notThere.test(code) || notMade.test(error.message);
}

/** Returns the original error of the server or the driver, which the storage's error wraps. */
const causeOf = (error: unknown): unknown => (error instanceof StorageUnavailableError ? error.cause : error);

/**
 * Checks whether a statement waited too long for another transaction's lock. The connection can still be
 * used.
 */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(causeOf(error)) === '55P03';
}

/** Checks whether a batch of calls failed because two of them write the same row. */
export function isRepeatedInOne(error: unknown): boolean {
  return sqlStateOf(causeOf(error)) === '21000';
}

/**
 * Checks whether a statement failed because a row with the same values in this unique index is stored
 * already.
 */
export function isTaken(error: unknown, index: string): boolean {
  const cause = causeOf(error);
  return sqlStateOf(cause) === '23505' && Reflect.get(Object(cause), 'constraint') === index;
}

/**
 * Checks whether PostgreSQL refused the data itself, a value or a constraint, so that a retry would fail too.
 */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(causeOf(error)));
}
