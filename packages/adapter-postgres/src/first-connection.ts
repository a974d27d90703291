import { setTimeout as pause } from 'node:timers/promises';
import { mayComeUp, StorageUnavailableError } from './errors.ts';
import { retried } from './lending.ts';
import type { PostgresPool } from './pool.ts';
import { connectionOn } from './statement.ts';

/** Between two tries. */
const pauseMs = 250;

/** Of one try: what a server that was asleep has not answered by then, it may have lost. */
const tryMs = 2_500;

/**
 * Waits until the database answers: one that was asleep, or is started together with this process, refuses or keeps
 * silent at first. What waiting cannot mend, such as a wrong password, is thrown at once.
 *
 * @param isWanted - asked between two tries
 */
export async function firstConnection(
  pool: PostgresPool,
  { patienceMs, isWanted }: { readonly patienceMs: number; readonly isWanted: () => boolean },
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = Math.max(1, Math.ceil(deadline - performance.now()));
    const patience = Math.min(tryMs, left);
    try {
      await retried(pool, patience, (lease) => connectionOn(lease.client).query('SELECT 1', []));
      return;
    } catch (error) {
      if (!mayComeUp(error) || !isWanted()) throw error;
      if (performance.now() + pauseMs >= deadline) {
        const said = error instanceof Error ? error.message : String(error);
        throw new StorageUnavailableError(
          `the PostgreSQL database did not come up within ${patienceMs} ms: ${said}`,
          { cause: error },
        );
      }
    }
    await pause(pauseMs);
  }
}
