import type { Worker } from './worker.ts';

/** Two kinds of work as one: jobs first, because they cause deliveries. */
export function together(first: Worker, second: Worker): Worker {
  return {
    start() {
      first.start();
      second.start();
    },
    wake() {
      first.wake();
      second.wake();
    },
    runDue: async () => (await first.runDue()) + (await second.runDue()),
    async stop() {
      await Promise.all([first.stop(), second.stop()]);
    },
  };
}
