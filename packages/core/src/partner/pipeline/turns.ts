import { setTimeout as pause } from 'node:timers/promises';
import { RequestInProgressError } from '../../replays.ts';

/** How long a request waits for another one with its key, in milliseconds. */
const patienceMs = 5_000;

/** How long a storage waits for a request of another process, at most. */
const storagePatienceMs = 1_500;

/** Between two tries. */
const pauseMs = 100;

/** Runs work one after another under each name. */
export type Turns = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** Resolves with what it waits for. @throws RequestInProgressError when it takes too long */
async function wait(turn: Promise<unknown>): Promise<void> {
  const { promise: end, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new RequestInProgressError()), patienceMs);
  try {
    await Promise.race([turn, end]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Does work again while a request of another process is under way: the storage waits for that one too, and says after
 * about a second that it does not know more. The last try begins early enough to end in time.
 */
async function untilKnown<Result>(work: () => Promise<Result>, began: number): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isTooLate = performance.now() - began > patienceMs - storagePatienceMs;
      if (!(error instanceof RequestInProgressError) || isTooLate) throw error;
    }
    await pause(pauseMs);
  }
}

/**
 * Requests of this process with one `Idempotency-Key` take turns, so that a repetition hears what became of the
 * first one rather than that nobody knows yet. With requests of other processes they do so in the storage. It is a
 * courtesy: what makes them one request, here and in other processes, is the transaction in which the key is stored.
 */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const began = performance.now();
    const before = last.get(name);
    const { promise: done, resolve: leave } = Promise.withResolvers<void>();
    // Whoever has lost patience does not let those behind it overtake the one in front.
    const turn = before === undefined ? done : Promise.all([before, done]);
    last.set(name, turn);
    try {
      if (before !== undefined) await wait(before);
      return await untilKnown(work, began);
    } finally {
      leave();
      void turn.then(() => {
        if (last.get(name) === turn) last.delete(name);
      });
    }
  };
}
