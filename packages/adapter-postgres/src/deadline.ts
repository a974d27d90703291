import { StorageUnavailableError } from './errors.ts';

/** Time limit of a call. */
export type Deadline = ReturnType<typeof deadlineIn>;

/** Refuses to wait for longer. */
export function deadlineIn(milliseconds: number) {
  let isOver = false;
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  const timer = setTimeout(() => {
    isOver = true;
    over.reject(
      new StorageUnavailableError(
        `the PostgreSQL database did not answer within ${Math.round(milliseconds)} ms`,
      ),
    );
  }, milliseconds);
  return {
    // Not a getter: of each object with one V8 keeps a hidden class, and with it all that is in reach of it.
    isOver: () => isOver,
    /** Returns the result of the promise, or rejects if it takes too long. A later result is ignored. */
    race<T>(promise: Promise<T>): Promise<T> {
      promise.catch(() => undefined);
      return Promise.race([promise, over.promise]);
    },
    clear: () => clearTimeout(timer),
  };
}
