import { setTimeout } from 'node:timers/promises';

/** Clock and timer for waiting. Tests pass their own. */
export interface Timing {
  /** Milliseconds from any fixed moment; never goes back. */
  now(): number;
  sleep(milliseconds: number): Promise<unknown>;
}

export const systemTiming: Timing = {
  now: () => performance.now(),
  sleep: (milliseconds) => setTimeout(milliseconds),
};

/**
 * Time for which SQLite itself may wait for a lock. It blocks the event loop meanwhile, so it is very short.
 */
export const busyTimeoutMs = 2;

/** Time for which a call waits for another process, off the event loop, before it is refused. */
export const callTimeoutMs = 2000;

const longestPauseMs = 25;

/** The pause before the given attempt: short at first, since most locks last for one commit. */
export function pauseBefore(attempt: number): number {
  return Math.min(2 ** attempt, longestPauseMs);
}

/** Checks whether another connection holds a lock that will be released. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_PROTOCOL';
}

/** The result code of SQLite, or the empty string for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Tries until the database is not busy or the time is over; the event loop goes on meanwhile. */
export async function retryWhileBusy<T>(
  attempt: () => T,
  timing: Timing,
  timeoutMs = callTimeoutMs,
): Promise<T> {
  let deadline: number | null = null;
  for (let retry = 0; ; retry += 1) {
    try {
      return attempt();
    } catch (error) {
      deadline ??= timing.now() + timeoutMs;
      if (!isBusy(error) || timing.now() >= deadline) throw error;
    }
    await timing.sleep(pauseBefore(retry));
  }
}
