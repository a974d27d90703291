export type OpenLoop = ReturnType<typeof openLoop>;

const tickMs = 5;

/**
 * Maximum number of concurrent operations, because sockets are limited. Operations above the maximum count as
 * failures.
 */
const most = 500;

/**
 * Starts an operation every `1 / perSecond` seconds, as independent users do, even if earlier operations have
 * not ended. A late timer starts all operations that are due.
 * @param ended - called after each operation with its duration and, if it failed, the reason
 */
export function openLoop(
  perSecond: number,
  work: () => Promise<unknown>,
  ended: (outcome: { readonly ms: number; readonly failure: string | null }) => void,
) {
  const underWay = new Set<Promise<void>>();
  let last = performance.now();
  let due = Math.random();

  async function one(): Promise<void> {
    const start = performance.now();
    try {
      await work();
      ended({ ms: performance.now() - start, failure: null });
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      ended({ ms: performance.now() - start, failure });
    }
  }

  const timer = setInterval(() => {
    const now = performance.now();
    due += ((now - last) / 1000) * perSecond;
    last = now;
    for (; due >= 1; due -= 1) {
      if (underWay.size >= most) {
        ended({ ms: 0, failure: 'not sent: too many are under way' });
        continue;
      }
      const operation = one().finally(() => underWay.delete(operation));
      underWay.add(operation);
    }
  }, tickMs);

  return {
    /** Stops starting operations, and resolves when all running operations have ended. */
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
