export type OpenLoop = ReturnType<typeof openLoop>;

const tickMs = 5;

/**
 * Maximum number of concurrent requests. Requests that are due beyond that count as failures, because sockets
 * are limited.
 */
const most = 500;

/**
 * Starts an operation every `1 / perSecond` seconds, evenly, as independent users do. A late tick starts all
 * that are due.
 * @param ended - told how long each operation took, and why it failed, if it did
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
    /** Stops starting work, and resolves when all work under way has ended. */
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
