import type { Core } from '../options/context.ts';
import type { JobHandler } from '../ports/queue.ts';
import type { LongestWaits, Purged } from '../ports/storage.ts';
import { boundTestEvents, boundTestRequests } from './test-data.ts';
import { boundWaits } from './waits.ts';

/**
 * The kind of the job that removes old rows. There is one such job, so that one process at a time does it.
 */
export const purgeKind = 'purge';

const dayMs = 24 * 3600_000;

/** Time between two purges, in milliseconds. */
export const purgeIntervalMs = 10 * 60_000;

/** Time until the next purge after one that found a partner beyond the bounds of test mode, in milliseconds. */
const testPurgeIntervalMs = 60_000;

/**
 * Time for which used or expired codes and tokens are kept, so that an expired token can be distinguished
 * from an unknown one.
 */
const retentionMs = dayMs;

/** Requests to the partner API are kept this long in their log. */
const requestLogMs = 7 * dayMs;

const batch = 500;

/** Batches of one run; what is left then waits for the next run, which comes at once. */
const maxBatches = 100;

/** Makes sure that the job exists. */
export async function schedulePurge({ storage, clock }: Core): Promise<void> {
  await storage.queue.enqueue([{ id: purgeKind, kind: purgeKind, payload: {}, dueAt: clock.now() }]);
}

/**
 * Removes rows that are no longer needed, in small batches between which other requests can run.
 * @param rounds - batches at most
 * @param told - called after each with the number of rows so far
 * @returns what was removed, and whether nothing is left
 */
async function purgeBatches(
  { storage, clock, options }: Core,
  rounds: number,
  told: (removed: number) => void = () => undefined,
): Promise<{ readonly total: object; readonly isThrough: boolean }> {
  const eventRetentionMs = options.webhooks.retentionDays * dayMs;
  const total: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    const now = clock.now();
    const count = await storage.purge({
      now,
      before: now - retentionMs,
      eventsBefore: now - eventRetentionMs,
      limit: batch,
    });
    const requests = await storage.requestLog.purge(now - requestLogMs, batch);
    const counts = Object.entries({ ...count, requests });
    for (const [kind, rows] of counts) total[kind] = (total[kind] ?? 0) + rows;
    told(Object.values(total).reduce((sum, rows) => sum + rows, 0));
    if (counts.every(([, rows]) => rows < batch)) {
      options.logger.debug(total, 'old rows were removed');
      return { total, isThrough: true };
    }
  }
  return { total, isThrough: false };
}

/**
 * Removes all old rows that there are now, and what test mode has too much of.
 * @param onProgress - called after each batch with the number of rows so far
 */
export async function purgeNow(core: Core, onProgress?: (removed: number) => void): Promise<Purged> {
  const { total } = await purgeBatches(core, Number.POSITIVE_INFINITY, onProgress);
  const old = total as Purged;
  const { events, deliveries } = await boundTestEvents(core);
  const { answers } = await boundTestRequests(core);
  return {
    ...old,
    events: old.events + events,
    deliveries: old.deliveries + deliveries,
    idempotency: old.idempotency + answers,
  };
}

/**
 * Removes old rows every ten minutes, and every minute while test mode has too much of them. Brings forward what waits for too
 * long: a process whose clock went back, and which ended before it could do that, may have left it.
 */
export function purgeHandler(core: Core, kinds: LongestWaits['jobs']['kinds']): JobHandler {
  return async () => {
    await boundWaits(core, kinds);
    const { isThrough } = await purgeBatches(core, maxBatches);
    const removed = { ...(await boundTestEvents(core)), ...(await boundTestRequests(core)) };
    const isBeyond = Object.values(removed).some((rows) => rows > 0);
    if (isBeyond) core.options.logger.debug(removed, 'rows beyond the bounds of test mode were removed');
    const restMs = isBeyond ? testPurgeIntervalMs : purgeIntervalMs;
    return { dueAt: core.clock.now() + (isThrough ? restMs : 0) };
  };
}
