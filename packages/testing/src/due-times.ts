import type { Storage } from '@ostiary/core/storage';
import type { Timeline } from './clock.ts';

/**
 * Id of the job that removes old rows. The job runs every ten minutes, so it would run thousands of times when
 * a test advances by a month.
 */
const upkeep = 'purge';

/**
 * Wraps a storage so that it reports each later time at which work becomes due: retried deliveries and jobs.
 * Work that is due at once need not be reported.
 */
export function tellingDueTimes(storage: Storage, timeline: Timeline): Storage {
  const tell = (moment: number): void => timeline.expect(moment);
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
        if (claim.id === upkeep) timeline.expectUpkeep(next.dueAt);
        else tell(next.dueAt);
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
