import { setTimeout as pause } from 'node:timers/promises';
import { withConnection } from './checkout.ts';
import { mayComeUp, StorageUnavailableError, unavailable } from './errors.ts';
import type { PostgresPool } from './pool.ts';
import { connectionOn } from './statement.ts';

/** Pause between two attempts to connect at start, in milliseconds. */
const pauseMs = 250;

/**
 * Timeout of one attempt to connect at start, in milliseconds. A server that was asleep may lose an attempt;
 * the next attempt then succeeds.
 */
const tryMs = 2_500;

/**
 * Waits until the database responds. A database that was asleep, or is started together with this process,
 * refuses connections or does not respond at first. Throws errors that waiting cannot solve, such as a wrong
 * password, at once.
 *
 * @param isWanted - called between two attempts; returns false to give up
 * @param onWait - called before each further attempt, with the reason why the last one failed
 */
export async function firstConnection(
  pool: PostgresPool,
  {
    timeoutMs,
    isWanted,
    onWait,
  }: {
    readonly timeoutMs: number;
    readonly isWanted: () => boolean;
    readonly onWait: (reason: Error) => void;
  },
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const left = Math.max(1, Math.ceil(deadline - performance.now()));
    const tryTimeoutMs = Math.min(tryMs, left);
    try {
      await withConnection(pool, tryTimeoutMs, (pooled) => connectionOn(pooled.client).query('SELECT 1', []));
      return;
    } catch (error) {
      if (!mayComeUp(error) || !isWanted()) throw error;
      if (performance.now() + pauseMs >= deadline) {
        const said = error instanceof Error ? error.message : String(error);
        throw new StorageUnavailableError(
          `the PostgreSQL database did not come up within ${timeoutMs} ms: ${said}`,
          { cause: error },
        );
      }
      onWait(unavailable(error));
    }
    await pause(pauseMs);
  }
}
