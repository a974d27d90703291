interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly since: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Maximum number of calls in a batch: keeps statements small, and keeps a call from waiting for thousands of
 * others.
 */
const maxBatchSize = 256;

/** Options of a batch of similar calls. */
export interface Batching<Call, Answer> {
  /**
   * Returns the key of a call. Only calls with the same key share a batch, and batches of different keys run
   * concurrently. @defaultValue one key
   */
  readonly keyOf?: (call: Call) => string;
  /**
   * Makes the calls of a batch and returns their results in the same order.
   * @param waitedMs - time for which the first call has waited, in milliseconds
   * @param isShared - true for a batch, for which other calls may wait, so that it must not wait long for a
   * lock; false for a call that is repeated separately
   */
  readonly make: (batch: readonly Call[], waitedMs: number, isShared: boolean) => Promise<readonly Answer[]>;
  /**
   * Checks whether an error may be caused by a single call of the batch, by two calls that write the same
   * row, or by a lock that the batch waits for. If so, each call of the batch is repeated separately and
   * concurrently.
   * @defaultValue never
   */
  readonly mayRetryAlone?: (error: unknown) => boolean;
}

/**
 * Batches similar database calls: while one batch runs, further calls are collected and form the next batch.
 * A call that arrives while none runs is made at once and alone, so that a quiet process never waits. If a
 * batch fails and its calls are not repeated, waiting calls fail with it, so that no call waits for a dead
 * database twice.
 */
export function batchCalls<Call, Answer>({
  keyOf = () => '',
  make,
  mayRetryAlone = () => false,
}: Batching<Call, Answer>): (call: Call) => Promise<Answer> {
  /** Calls that wait for the next batch, by the key of the running batch. */
  const waitingOf = new Map<string, Waiting<Call, Answer>[]>();

  async function makeAlone({ call, since, resolve, reject }: Waiting<Call, Answer>): Promise<void> {
    try {
      for (const answer of await make([call], performance.now() - since, false)) resolve(answer);
    } catch (error) {
      reject(error);
    }
  }

  async function makeAll(key: string, first: Waiting<Call, Answer>): Promise<void> {
    const waiting = [first];
    waitingOf.set(key, waiting);
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxBatchSize);
      try {
        const waitedMs = performance.now() - (batch[0]?.since ?? 0);
        const answers = await make(
          batch.map(({ call }) => call),
          waitedMs,
          true,
        );
        for (const [index, answer] of answers.entries()) batch[index]?.resolve(answer);
      } catch (error) {
        if (mayRetryAlone(error)) for (const one of batch) void makeAlone(one);
        else for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
      }
    }
    waitingOf.delete(key);
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const key = keyOf(call);
      const added = { call, since: performance.now(), resolve, reject };
      const waiting = waitingOf.get(key);
      if (waiting === undefined) void makeAll(key, added);
      else waiting.push(added);
    });
}
