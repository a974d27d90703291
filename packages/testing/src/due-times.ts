import type { Storage } from '@ostiary/core/storage';

/**
 * Tells of every later moment at which something in a storage becomes due: retried deliveries and jobs. What is due
 * at once need not be told.
 */
export function tellingDueTimes(storage: Storage, tell: (moment: number) => void): Storage {
  const { queue, deliveries } = storage;
  return {
    ...storage,
    queue: {
      ...queue,
      enqueue(jobs) {
        for (const { dueAt } of jobs) tell(dueAt);
        return queue.enqueue(jobs);
      },
      retry(claim, next) {
        tell(next.dueAt);
        return queue.retry(claim, next);
      },
    },
    deliveries: {
      ...deliveries,
      finish(results) {
        for (const { next } of results) if (next.status === 'pending') tell(next.dueAt);
        return deliveries.finish(results);
      },
    },
  };
}
