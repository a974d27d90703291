import { setTimeout as pause } from 'node:timers/promises';
import { connectionOf } from './connecting.ts';
import { type Deadline, deadlineIn } from './deadline.ts';
import { endsConnection, isConflict, isNameConflict, isReadOnlyServer } from './errors.ts';
import type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult } from './pool.ts';
import type { Semaphore } from './semaphore.ts';

/** How often work is tried that loses against other transactions, or whose connection turns out to be dead. */
const attempts = 5;

/** Between two attempts, times their number: the one that won goes first. */
const pauseMs = 10;

/**
 * Lends a connection to an attempt, and waits for a server that is not there for a moment. A conflict with another transaction is
 * tried again, and so is a connection that broke before anything could have been committed. An attempt that has not ended when the
 * patience is over is refused: its connection is closed, which ends the transaction on the server.
 *
 * @param semaphore - waits for one of these before it asks for a connection; `null`: for none
 */
export async function retried<T>(
  pool: PostgresPool,
  patienceMs: number,
  attempt: (lease: Lease) => Promise<T>,
  semaphore: Semaphore | null = null,
): Promise<T> {
  const end = performance.now() + patienceMs;
  const deadline = deadlineIn(patienceMs);
  try {
    await semaphore?.acquire(deadline.race);
  } catch (error) {
    deadline.clear();
    throw error;
  }
  try {
    for (let number = 1; ; number += 1) {
      const lease = new Lease(await borrow(pool, deadline, Math.max(1, end - performance.now())));
      try {
        return await deadline.race(attempt(lease));
      } catch (error) {
        lease.isBroken ||= deadline.isOver();
        if (number === attempts || deadline.isOver() || !lease.mayTryAgain(error)) throw error;
      } finally {
        lease.end();
      }
      await pause(pauseMs * number);
    }
  } finally {
    deadline.clear();
    semaphore?.release();
  }
}

/** A connection for one attempt of a call, watched while it is lent. */
export class Lease {
  readonly client: PostgresClient;
  /** Set before a statement that can commit: what fails from then on may have taken effect. */
  isCommitting = false;
  isBroken = false;
  readonly #borrowed: PostgresPoolClient;
  /** What the connection said last; errors of the work's own say nothing of it. */
  #failure: unknown = null;

  constructor(borrowed: PostgresPoolClient) {
    this.#borrowed = borrowed;
    // Between two statements nobody else listens, and an error that nobody hears ends the process.
    borrowed.on?.('error', this.#onError);
    this.client = { query: (statement) => this.#query(statement) };
  }

  /** Undoes the transaction, if the connection is good for it. */
  async rollBack(): Promise<void> {
    if (this.isBroken) return;
    try {
      await this.#query({ text: 'ROLLBACK' });
    } catch {
      this.isBroken = true;
    }
  }

  mayTryAgain(error: unknown): boolean {
    if (isConflict(error) || isNameConflict(error) || isReadOnlyServer(error)) return true;
    return this.isBroken && error === this.#failure && !this.isCommitting;
  }

  end(): void {
    this.#borrowed.removeListener?.('error', this.#onError);
    this.#borrowed.release(this.isBroken);
  }

  async #query(statement: Parameters<PostgresClient['query']>[0]): Promise<PostgresResult> {
    try {
      return await ran(this.#borrowed, statement);
    } catch (error) {
      this.#failure = error;
      this.isBroken ||= endsConnection(error);
      throw error;
    }
  }

  readonly #onError = (): void => {
    this.isBroken = true;
  };
}

/**
 * Runs a statement with a callback, as `pg` takes one: its own promises keep what they led to alive until the whole heap is
 * collected. A client that knows only promises answers with one.
 */
function ran(
  client: PostgresClient,
  statement: Parameters<PostgresClient['query']>[0],
): Promise<PostgresResult> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, result: PostgresResult) => (error ? reject(error) : resolve(result));
    const answer: Promise<PostgresResult> | undefined = Reflect.apply(client.query, client, [
      statement,
      done,
    ]);
    answer?.then(resolve, reject);
  });
}

/** Takes a connection of the pool, for which it waits within the deadline. A connection that comes too late goes straight back. */
async function borrow(
  pool: PostgresPool,
  deadline: Deadline,
  patienceMs: number,
): Promise<PostgresPoolClient> {
  let failure: unknown = null;
  const connecting = connectionOf(pool, patienceMs, (error) => {
    failure = error;
  });
  try {
    return await deadline.race(connecting);
  } catch (error) {
    if (!deadline.isOver()) throw error;
    connecting.then((late) => late.release()).catch(() => undefined);
    // The error of the last attempt says more than that the time is over.
    throw failure ?? error;
  }
}
