/** Timeout of a database call in milliseconds, including the wait for a connection. */
export const callTimeoutMs = 1500;

/** Returns the remaining time of a database call that has waited for `waitedMs`, in milliseconds. */
export const timeoutLeft = (waitedMs: number): number => Math.max(1, callTimeoutMs - waitedMs);

/**
 * Time for which a database call waits for a lock, in milliseconds. Shorter than the call's timeout, so that
 * the call can still react if another transaction holds the lock.
 */
export const lockTimeoutMs = 1200;

/**
 * Returns the remaining time for which a statement may wait for a lock, in milliseconds. It ends before the
 * call's timeout, so that the statement fails and cannot commit after its caller has given up.
 */
export const lockTimeoutLeft = (waitedMs: number): number => Math.max(1, lockTimeoutMs - waitedMs);

/**
 * Time for which a batch's statement waits for a lock, in milliseconds, before its calls are made separately.
 */
const sharedLockMs = 50;

/**
 * Returns the value of `lock_timeout` for a statement.
 * @param isShared - true if other calls may wait for the end of the statement; the value is then short
 * @param aloneMs - value for any other statement, in milliseconds
 */
export const lockTimeoutOf = (isShared: boolean, aloneMs = callTimeoutMs): string =>
  String(isShared ? sharedLockMs : aloneMs);

/**
 * Timeout in milliseconds for a call that may change many rows, such as a purge, the disabling of a client or
 * the removal of an endpoint.
 */
export const longTimeoutMs = 30_000;
