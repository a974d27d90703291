import { setTimeout as pause } from 'node:timers/promises';
import { RequestInProgressError } from '../../idempotency/repeatable-request.ts';

/** How long a request waits for another one with its key, in milliseconds. */
const maxWaitMs = 5_000;

/** How long a storage waits for a request of another process, at most. */
const maxStorageWaitMs = 1_500;

/** Between two tries. */
const pauseMs = 100;

/** Resolves with what it waits for. @throws RequestInProgressError when it takes too long */
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
 * Does work again while a request of another process is under way: the storage waits for that one too, and says after
 * about a second that it does not know more. The last try begins early enough to end in time.
 */
async function untilKnown<Result>(
  work: (isFirst: boolean) => Promise<Result>,
  began: number,
  hasWaited: boolean,
): Promise<Result> {
  for (let isFirst = !hasWaited; ; isFirst = false) {
    try {
      return await work(isFirst);
    } catch (error) {
      const isTooLate = performance.now() - began > maxWaitMs - maxStorageWaitMs;
      if (!(error instanceof RequestInProgressError) || isTooLate) throw error;
    }
    await pause(pauseMs);
  }
}

/**
 * Requests of this process with one `Idempotency-Key` wait for each other, so that a repetition is answered as the first
 * one was, and not with 503. What makes them one request, here and in other processes, is the transaction in which the key
 * is stored; this only spares the caller a repetition.
 */
export function createKeyedMutex() {
  const last = new Map<string, Promise<unknown>>();
  /** @param work - told whether it is the first try of a request that waited for nobody */
  return async <Result>(key: string, work: (isFirst: boolean) => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    const before = last.get(key);
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    // A request that gave up waiting does not let those behind it overtake the one in front.
    const released = before === undefined ? done : Promise.all([before, done]);
    last.set(key, released);
    try {
      if (before !== undefined) await wait(before);
      return await untilKnown(work, began, before !== undefined);
    } finally {
      release();
      void released.then(() => {
        if (last.get(key) === released) last.delete(key);
      });
    }
  };
}
