import type { Core } from '../options/context.ts';

const mebibyte = 1024 * 1024;

/** Bounds of the data of one partner in test mode, 100 MiB altogether. The oldest rows go first. */
export const testDataBounds = {
  /** Age of an event or a payment, in milliseconds. */
  ageMs: 7 * 24 * 3600_000,
  /** Events. Their size includes deliveries and attempts; see {@link rowBytes}. */
  events: { rows: 10_000, bytes: 70 * mebibyte },
  payments: { rows: 10_000, bytes: 10 * mebibyte },
  /** Answers to idempotency keys. */
  answers: { rows: 10_000, bytes: 10 * mebibyte },
  /** Requests in the log. */
  requests: { rows: 5_000, bytes: 10 * mebibyte },
} as const;

/** Bytes of a row beside its texts, with its entries in indexes. PostgreSQL takes about a third more. */
const rowBytes = 512;

/** Events of one page of sizes. Each can have a delivery to every endpoint of the partner. */
const page = 100;

/** Events that one call removes at most. */
const eventBatch = 50;

/** Rows of another kind that one call removes at most. */
const batch = 1_000;

/** Partners of one page. */
const partnersPage = 500;

/** Returns the sequence number of the newest event that is beyond a bound; 0 if there is none. */
async function lastBeyond({ storage }: Pick<Core, 'storage'>, partner: string, now: number): Promise<number> {
  const { ageMs, events: bounds } = testDataBounds;
  let [events, bytes, before] = [0, 0, Number.MAX_SAFE_INTEGER];
  for (;;) {
    const sizes = await storage.events.sizes({ partner, mode: 'test', before, limit: page });
    for (const size of sizes) {
      events += 1;
      bytes += size.bytes + size.rows * rowBytes;
      if (events > bounds.rows || bytes > bounds.bytes || size.createdAt < now - ageMs) return size.sequence;
      before = size.sequence;
    }
    if (sizes.length < page) return 0;
  }
}

/** Removes the events of test mode that are beyond the bounds, with their deliveries and attempts. Returns how many. */
export async function boundTestEvents(
  core: Pick<Core, 'storage' | 'clock'>,
): Promise<{ readonly events: number; readonly deliveries: number }> {
  const { events } = core.storage;
  const total = { events: 0, deliveries: 0 };
  let partners = await events.testPartners({ after: '', limit: partnersPage });
  for (let last = partners.at(-1); last !== undefined; last = partners.at(-1)) {
    for (const partner of partners) {
      const upTo = await lastBeyond(core, partner, core.clock.now());
      if (upTo === 0) continue;
      let removed = { events: eventBatch, deliveries: 0 };
      while (removed.events === eventBatch) {
        removed = await events.removeOldest({ partner, mode: 'test', upTo, limit: eventBatch });
        total.events += removed.events;
        total.deliveries += removed.deliveries;
      }
    }
    partners = await events.testPartners({ after: last, limit: partnersPage });
  }
  return total;
}

/** Repeats a removal of at most {@link batch} rows until it finds fewer. Returns how many rows were removed. */
async function untilThrough(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  let removed = batch;
  while (removed === batch) {
    removed = await remove();
    total += removed;
  }
  return total;
}

/** Removes payments, answers to idempotency keys and logged requests of test mode that are beyond the bounds. Returns how many. */
export async function boundTestRequests({ storage, clock }: Pick<Core, 'storage' | 'clock'>): Promise<{
  readonly payments: number;
  readonly answers: number;
  readonly requests: number;
}> {
  const { partners, transfers, idempotency, requestLog } = storage;
  const { ageMs, payments, answers, requests } = testDataBounds;
  const before = clock.now() - ageMs;
  const total = { payments: 0, answers: 0, requests: 0 };
  let found = await partners.list({ after: null, limit: partnersPage });
  for (let last = found.at(-1); last !== undefined; last = found.at(-1)) {
    for (const { slug } of found) {
      const owner = { partner: slug, mode: 'test', limit: batch } as const;
      total.payments += await untilThrough(() => transfers.removeOldest({ ...owner, ...payments, before }));
      total.answers += await untilThrough(() => idempotency.removeOldest({ ...owner, ...answers }));
      total.requests += await untilThrough(() => requestLog.removeOldest({ ...owner, ...requests }));
    }
    found = await partners.list({ after: last.slug, limit: partnersPage });
  }
  return total;
}
