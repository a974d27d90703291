import type { Core } from '../options/context.ts';
import type { JobHandler } from '../ports/queue.ts';
import type { LongestWaits, Purged } from '../ports/storage.ts';
import { boundTestEvents, boundTestRequests } from './test-data.ts';
import { boundWaits } from './waits.ts';

/**
 * Kind of the job that removes old rows. There is one such job, so that only one process at a time purges.
 */
export const purgeKind = 'purge';

const dayMs = 24 * 3600_000;

/** Time between two purges, in milliseconds. */
export const purgeIntervalMs = 10 * 60_000;

/**
 * Time until the next purge, in milliseconds, if the last one found a partner's test data beyond the limits.
 */
const testPurgeIntervalMs = 60_000;

/**
 * Time for which codes and tokens are kept after their expiry, in milliseconds, so that an expired token can
 * be distinguished from an unknown one.
 */
const retentionMs = dayMs;

/** Time for which requests to the partner API stay in the request log, in milliseconds. */
const requestLogMs = 7 * dayMs;

/** Time without use after which clients with metadata documents are removed, in milliseconds. */
const unusedDocumentMs = 30 * dayMs;

/** Time for which hourly counts are kept, in milliseconds. */
const hourlyCountMs = 90 * dayMs;

const batch = 500;

/**
 * Maximum number of batches of rows that one run removes. The rest waits for the next run, which follows at
 * once.
 */
const maxBatches = 100;

/** Enqueues the purge job, unless it exists already. */
export async function schedulePurge({ storage, clock }: Core): Promise<void> {
  await storage.queue.enqueue([{ id: purgeKind, kind: purgeKind, payload: {}, dueAt: clock.now() }]);
}

/**
 * Removes database rows that are no longer needed, in small batches between which other requests can run.
 * @param rounds - maximum number of batches
 * @param onProgress - called after each batch with the number of rows removed so far
 * @returns the numbers of removed rows, and whether none are left to remove
 */
async function purgeBatches(
  { storage, clock, options }: Core,
  rounds: number,
  onProgress: (removed: number) => void = () => undefined,
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
    const clientDocuments = await storage.clientDocuments.purge(now - unusedDocumentMs, batch);
    const hourlyCounts = await storage.hourlyCounts.purge(now - hourlyCountMs, batch);
    const counts = Object.entries({ ...count, requests, clientDocuments, hourlyCounts });
    for (const [kind, rows] of counts) total[kind] = (total[kind] ?? 0) + rows;
    onProgress(Object.values(total).reduce((sum, rows) => sum + rows, 0));
    if (counts.every(([, rows]) => rows < batch)) {
      options.logger.debug(total, 'old rows were removed');
      return { total, isThrough: true };
    }
  }
  return { total, isThrough: false };
}

/**
 * Removes all database rows that are no longer needed now, including test data beyond the limits.
 * @param onProgress - called after each batch, except of test data, with the number of rows removed so far
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
 * Creates the handler of the purge job, which runs every ten minutes, every minute while test data exceeds
 * the limits, and again at once while old rows are left. It also shortens waits that are too long. Such waits
 * are left by a process whose clock was set back and which ended before it could shorten them itself.
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
