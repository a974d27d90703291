import { setTimeout } from 'node:timers/promises';

/** Clock and timer with which calls wait for a busy database. Tests pass their own. */
export interface Timing {
  /** Returns milliseconds since an arbitrary moment; never goes back. */
  now(): number;
  sleep(milliseconds: number): Promise<unknown>;
}

export const systemTiming: Timing = {
  now: () => performance.now(),
  sleep: (milliseconds) => setTimeout(milliseconds),
};

/**
 * Time for which SQLite itself waits for a lock, in milliseconds. Very short, because it blocks the event
 * loop.
 */
export const busyTimeoutMs = 2;

/**
 * Time for which a call waits for another process without blocking the event loop, before it is refused, in
 * milliseconds.
 */
export const callTimeoutMs = 2000;

const longestPauseMs = 25;

/**
 * Returns the pause before the next attempt at a busy database, in milliseconds: short at first, since most
 * locks last for one commit.
 */
export function pauseBefore(attempt: number): number {
  return Math.min(2 ** attempt, longestPauseMs);
}

/** Checks whether an error of SQLite means that another connection holds a lock, which it will release. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_PROTOCOL';
}

/** Returns the code of an error of SQLite or Node, or the empty string for an error without a code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * Repeats a database call until the database is not busy or the time is over, without blocking the event
 * loop.
 */
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
