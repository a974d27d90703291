import { StorageUnavailableError } from './errors.ts';

/** Time limit of a database call. */
export type Deadline = ReturnType<typeof deadlineIn>;

/**
 * Starts the time limit of a database call. When the time is over, `race` rejects with a
 * `StorageUnavailableError`.
 */
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
    // A method and not a getter: for each object with a getter V8 keeps a hidden class, and with it
    // everything that the object references.
    isOver: () => isOver,
    /** Returns the result of a promise, or rejects when the time limit is over. Ignores a later result. */
    race<T>(promise: Promise<T>): Promise<T> {
      promise.catch(() => undefined);
      return Promise.race([promise, over.promise]);
    },
    clear: () => clearTimeout(timer),
  };
}
