import { RequestInProgressError } from '../../idempotency/repeatable-request.ts';

/** Longest time for which a request waits for another one with its key, in milliseconds. */
const maxWaitMs = 5_000;

/** Longest time for which a storage waits for a request of another process, in milliseconds. */
const maxStorageWaitMs = 1_500;

/** Time at which one request of a key is handled, and no other one of this process. */
export interface Turn {
  /** Checks whether another try could end later than {@link maxWaitMs} after the request came. */
  isTooLate(): boolean;
  /** Lets the next request of the key begin. */
  end(): void;
}

/** Waits for the turns before. @throws RequestInProgressError when it takes too long */
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
 * Lets requests of this process with one `Idempotency-Key` wait for each other, so that a repetition gets the answer of the first one,
 * and not a 503. What makes them one request, here and in other processes, is the transaction in which the key is stored; this only
 * spares the client a repetition.
 */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return {
    /** @throws RequestInProgressError if the turns before last longer than five seconds */
    async take(key: string): Promise<Turn> {
      const began = performance.now();
      const before = last.get(key);
      const { promise: done, resolve } = Promise.withResolvers<void>();
      // A request that gave up waiting does not let those behind it overtake the one in front.
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
      // The last try begins early enough to end in time.
      return { end, isTooLate: () => performance.now() - began > maxWaitMs - maxStorageWaitMs };
    },
  };
}
