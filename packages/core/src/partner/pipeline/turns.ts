import { RequestInProgressError } from '../../idempotency/repeatable-request.ts';

/**
 * Longest time for which a request waits for another request with the same `Idempotency-Key`, in
 * milliseconds.
 */
const maxWaitMs = 5_000;

/**
 * Longest time for which a storage call waits for a request of another process with the same
 * `Idempotency-Key`, in milliseconds.
 */
const maxStorageWaitMs = 1_500;

/**
 * Right of one request to be handled, while this process's other requests with the same `Idempotency-Key`
 * wait.
 */
export interface Turn {
  /** Checks whether a further attempt might end later than {@link maxWaitMs} after the request arrived. */
  isTooLate(): boolean;
  /** Lets the next waiting request with the same key be handled. */
  end(): void;
}

/**
 * Waits until all earlier requests with the same `Idempotency-Key` are done. @throws RequestInProgressError
 * after {@link maxWaitMs}
 */
async function wait(released: Promise<unknown>): Promise<void> {
  const { promise: end, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new RequestInProgressError()), maxWaitMs);
  try {
    await Promise.race([released, end]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes requests of this process with one `Idempotency-Key` wait for each other, so that a repeated request
 * gets the first one's response instead of a 503. Correctness does not depend on it: the transaction that
 * stores the key ensures that requests take effect once, in all processes.
 */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return {
    /**
     * Waits for earlier requests with the same key, so that this request can be handled. @throws
     * RequestInProgressError after five seconds
     */
    async take(key: string): Promise<Turn> {
      const began = performance.now();
      const before = last.get(key);
      const { promise: done, resolve } = Promise.withResolvers<void>();
      // If a request gives up waiting, the requests behind it still wait for the one in front.
      const released = before === undefined ? done : Promise.all([before, done]);
      last.set(key, released);
      const end = (): void => {
        resolve();
        void released.then(() => {
          if (last.get(key) === released) last.delete(key);
        });
      };
      if (before !== undefined) {
        await wait(before).catch((error: unknown) => {
          end();
          throw error;
        });
      }
      // Start the last try early enough that it ends in time.
      return { end, isTooLate: () => performance.now() - began > maxWaitMs - maxStorageWaitMs };
    },
  };
}
