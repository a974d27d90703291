import { PartnerError } from '../../errors.ts';

/** How long a request waits for another one with its key, in milliseconds. */
const patienceMs = 5_000;

/** Runs work one after another under each name. */
export type Turns = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** Resolves with what it waits for. @throws PartnerError `internal_error` with status 503 */
async function wait(turn: Promise<unknown>): Promise<void> {
  const { promise: end, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(
      new PartnerError('internal_error', {
        status: 503,
        description: 'Another request with this Idempotency-Key is under way.',
        headers: { 'Retry-After': '1' },
      }),
    );
  }, patienceMs);
  try {
    await Promise.race([turn, end]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Requests of this process with one `Idempotency-Key` take turns, so that a repetition hears what became of the
 * first one rather than that nobody knows yet. It is a courtesy: what makes them one request, here and in other
 * processes, is the transaction in which the key is stored.
 */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = last.get(name);
    const { promise: done, resolve: leave } = Promise.withResolvers<void>();
    // Whoever has lost patience does not let those behind it overtake the one in front.
    const turn = before === undefined ? done : Promise.all([before, done]);
    last.set(name, turn);
    try {
      if (before !== undefined) await wait(before);
      return await work();
    } finally {
      leave();
      void turn.then(() => {
        if (last.get(name) === turn) last.delete(name);
      });
    }
  };
}
