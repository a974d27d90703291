/** How long a call may take, the wait for a connection included, before it is refused. */
export const patienceMs = 1500;

/** What is left of it for a call that has waited. */
export const patienceLeft = (waitedMs: number): number => Math.max(1, patienceMs - waitedMs);

/** How long it waits for a lock where it wants to hear, with time left, that somebody else holds it. */
export const lockPatienceMs = 1200;

/** What is left of that. A statement that commits by itself hears of it before its caller gives up, and so has not taken effect. */
export const lockPatienceLeft = (waitedMs: number): number => Math.max(1, lockPatienceMs - waitedMs);

/** How long a statement that others wait for waits for a lock, before each call of it goes on alone. */
const sharedLockMs = 50;

/** How long a statement waits for a lock, as `lock_timeout` takes it. */
export const lockTimeoutOf = (isShared: boolean, aloneMs = patienceMs): string =>
  String(isShared ? sharedLockMs : aloneMs);

/** The same for what changes many rows on behalf of nobody who waits: a purge, a client that is disabled. */
export const longPatienceMs = 30_000;
