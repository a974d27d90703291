import type { WakeUps, Work } from '../ports/queue.ts';
import type { Worker } from './worker.ts';

/**
 * Combines the workers for jobs and for deliveries into one worker. `runDue` runs jobs first, because they
 * cause deliveries. A notification of new work goes to the worker for that work.
 */
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
    /**
     * Notifies the worker of this process of new work. If it is not running, notifies the workers of other
     * processes.
     */
    tell(work: Work): void {
      if (isStarted) workers[work].wake();
      else wakeUps?.notify(work);
    },
  };
}
