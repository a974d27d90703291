/** Time limit of a call, including the wait for a connection. */
export const callTimeoutMs = 1500;

/** Time that is left of a call which has waited for this long. */
export const timeoutLeft = (waitedMs: number): number => Math.max(1, callTimeoutMs - waitedMs);

/**
 * Time that a call waits for a lock if it must find out, with time left, that another transaction holds the
 * lock.
 */
export const lockTimeoutMs = 1200;

/**
 * Time that is left of the wait for a lock. A statement that commits by itself fails before its caller gives up, and so has not taken
 * effect.
 */
export const lockTimeoutLeft = (waitedMs: number): number => Math.max(1, lockTimeoutMs - waitedMs);

/** Time that the statement of a batch waits for a lock, before each call of the batch is made alone. */
const sharedLockMs = 50;

/** Value of `lock_timeout` for a statement. @param isShared - whether other calls wait for the end of the statement */
export const lockTimeoutOf = (isShared: boolean, aloneMs = callTimeoutMs): string =>
  String(isShared ? sharedLockMs : aloneMs);

/** Time limit of a call that changes many rows while no user waits: a purge, the end of a client. */
export const longTimeoutMs = 30_000;
