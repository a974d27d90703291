import { setTimeout as pause } from 'node:timers/promises';
import { StorageUnavailableError, sqlStateOf } from './errors.ts';
import { retried } from './lending.ts';
import type { PostgresPool } from './pool.ts';
import { connectionOn } from './statement.ts';

/** Between two tries. */
const pauseMs = 250;

/** Of one try: what a server that was asleep has not answered by then, it may have lost. */
const tryMs = 2_500;

/** A server that is starting (57P03) or ending (57P01): another one answers soon. */
const notNow = /^(?:57P01|57P03)$/;

/** What the network says of a server that is not there yet; ENOENT: of a socket in the file system. */
const notThere = /^(?:EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOENT|EPIPE|ETIMEDOUT)$/;

/** What `pg` says without a code of a connection that was not made in time, or ended meanwhile. */
const notMade = /\btimeout\b|^Connection terminated/;

/** Whether the server may only not be there yet. */
function mayComeUp(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlStateOf(error);
  if (state !== '') return notNow.test(state);
  const code = 'code' in error ? String(error.code) : '';
  return error instanceof StorageUnavailableError || notThere.test(code) || notMade.test(error.message);
}

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
