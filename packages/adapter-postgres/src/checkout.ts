import { setTimeout as pause } from 'node:timers/promises';
import { untilEnded } from './abandoned.ts';
import { connectionOf } from './connecting.ts';
import { type Deadline, deadlineIn } from './deadline.ts';
import {
  endedIdle,
  endsConnection,
  isConflict,
  isNameConflict,
  isReadOnlyServer,
  StorageUnavailableError,
} from './errors.ts';
import type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult } from './pool.ts';
import type { Semaphore } from './semaphore.ts';

/**
 * Maximum number of attempts for a database call that can be tried again: see `mayTryAgain`. After the last
 * attempt the call fails with its error.
 */
const attempts = 5;

/**
 * Pause before the next attempt at a database call, multiplied by the number of attempts, in milliseconds.
 * Lets the transaction that won go first.
 */
const pauseMs = 10;

/**
 * Runs a database call on a connection of the pool, and waits for a server that is briefly unavailable. Tries
 * again after a conflict with another transaction or over the name of a prepared statement, on a server that
 * accepts no writes, and after a connection that broke before anything could have been committed. Refuses a
 * call that has not ended after `timeoutMs`. Its connection is closed, and its place in the pool and the
 * semaphore is free, once the server has ended the statement.
 *
 * @param semaphore - semaphore to acquire before the connection; `null` for none
 */
export async function withConnection<T>(
  pool: PostgresPool,
  timeoutMs: number,
  attempt: (pooled: PooledConnection) => Promise<T>,
  semaphore: Semaphore | null = null,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  const deadline = deadlineIn(timeoutMs);
  try {
    await semaphore?.acquire(deadline.race);
  } catch (error) {
    deadline.clear();
    throw error;
  }
  let abandoned: Promise<void> | null = null;
  try {
    for (let number = 1; ; number += 1) {
      const pooled = new PooledConnection(
        await checkOut(pool, deadline, Math.max(1, end - performance.now())),
      );
      const running = attempt(pooled);
      try {
        return await deadline.race(running);
      } catch (error) {
        if (deadline.isOver()) abandoned = pooled.abandon(pool, running);
        if (number === attempts || deadline.isOver() || !pooled.mayTryAgain(error)) throw error;
      } finally {
        if (abandoned === null) pooled.end();
      }
      await pause(pauseMs * number);
    }
  } finally {
    deadline.clear();
    if (abandoned === null) semaphore?.release();
    else void abandoned.then(() => semaphore?.release());
  }
}

/** A connection that is checked out for one attempt of a call. Detects when it breaks. */
export class PooledConnection {
  readonly client: PostgresClient;
  /**
   * True from the statement on that can commit: if the connection fails later, the commit may have taken
   * effect.
   */
  isCommitting = false;
  isBroken = false;
  readonly #borrowed: PostgresPoolClient;
  /** True once the call has given up: it runs no further statement, above all no COMMIT. */
  #isAbandoned = false;
  /**
   * Last error of a statement on the connection, to tell it apart from errors that the caller's own code
   * throws.
   */
  #failure: unknown = null;

  constructor(borrowed: PostgresPoolClient) {
    this.#borrowed = borrowed;
    // Listen between statements too: an `error` event without a listener would end the process.
    borrowed.on?.('error', this.#onError);
    this.client = { query: (statement) => this.#query(statement) };
  }

  /** Rolls the running transaction back, unless the connection is broken. */
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
    return this.isBroken && error === this.#failure && (!this.isCommitting || endedIdle(error));
  }

  end(): void {
    this.#borrowed.removeListener?.('error', this.#onError);
    this.#borrowed.release(this.isBroken);
  }

  /**
   * Gives the connection up, and closes it when the server has ended the statement that runs on it. Never
   * rejects.
   */
  async abandon(pool: PostgresPool, running: Promise<unknown>): Promise<void> {
    this.#isAbandoned = true;
    this.isBroken = true;
    await untilEnded(pool, Reflect.get(this.#borrowed, 'processID'), running, !this.isCommitting);
    this.end();
  }

  async #query(statement: Parameters<PostgresClient['query']>[0]): Promise<PostgresResult> {
    if (this.#isAbandoned) throw new StorageUnavailableError('the time of the call is over');
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
 * Runs a statement with a callback: the promises of `pg` would keep their results in memory until the whole
 * heap is collected. Also supports clients that only return promises.
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

/**
 * Takes a connection from the pool, before the deadline. A connection that arrives after the deadline goes
 * back to the pool.
 */
async function checkOut(
  pool: PostgresPool,
  deadline: Deadline,
  timeoutMs: number,
): Promise<PostgresPoolClient> {
  let failure: unknown = null;
  const connecting = connectionOf(pool, timeoutMs, (error) => {
    failure = error;
  });
  try {
    return await deadline.race(connecting);
  } catch (error) {
    if (!deadline.isOver()) throw error;
    connecting.then((late) => late.release()).catch(() => undefined);
    // Prefer the last connection error, which explains more than the timeout.
    throw failure ?? error;
  }
}
