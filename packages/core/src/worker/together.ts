import type { WakeUps, Work } from '../ports/queue.ts';
import type { Worker } from './worker.ts';

/** The workers of both kinds of work as one, jobs first, because they cause deliveries; and how new work is told. */
export function together(workers: { readonly [work in Work]: Worker }, wakeUps?: WakeUps) {
  const { jobs, deliveries } = workers;
  let isStarted = false;
  let stopListening: (() => void) | undefined;

  const worker: Worker = {
    start() {
      if (isStarted) return;
      isStarted = true;
      jobs.start();
      deliveries.start();
      stopListening = wakeUps?.listen((work) => workers[work].wake());
    },
    wake() {
      jobs.wake();
      deliveries.wake();
    },
    runDue: async () => (await jobs.runDue()) + (await deliveries.runDue()),
    async stop() {
      isStarted = false;
      stopListening?.();
      await Promise.all([jobs.stop(), deliveries.stop()]);
    },
  };
  return {
    worker,
    /** Tells the worker of this process, or those of others where it does not run: each would claim what one of them needs. */
    tell(work: Work): void {
      if (isStarted) workers[work].wake();
      else wakeUps?.notify(work);
    },
  };
}
