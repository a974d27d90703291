import type { Core } from '../options/context.ts';

const mebibyte = 1024 * 1024;

/** Limits for the data of one partner in test mode, 100 MiB in total. The oldest rows are removed first. */
const testDataBounds = {
  /** Maximum age of a test event, a test payment or a request in an inbox, in milliseconds. */
  ageMs: 7 * 24 * 3600_000,
  /**
   * Limits for a partner's test events. Their size includes deliveries and attempts; see {@link rowBytes}.
   */
  events: { rows: 10_000, bytes: 65 * mebibyte },
  payments: { rows: 10_000, bytes: 10 * mebibyte },
  /** Limits for a partner's stored responses to idempotency keys in test mode. */
  answers: { rows: 10_000, bytes: 10 * mebibyte },
  /** Limits for a partner's test requests in the request log. */
  requests: { rows: 5_000, bytes: 10 * mebibyte },
  /** Limits for the requests in a partner's inboxes. */
  inbox: { rows: 2_500, bytes: 5 * mebibyte },
} as const;

/**
 * Assumed bytes of a row besides its texts, including its index entries. PostgreSQL takes about a third more.
 */
const rowBytes = 512;

/**
 * Number of events whose sizes one query reads. Each event can have a delivery to every endpoint of the
 * partner.
 */
const page = 100;

/** Maximum number of events that one call removes. */
const eventBatch = 50;

/** Maximum number of rows other than events that one call removes. */
const batch = 1_000;

/** Number of partners that one query reads. */
const partnersPage = 500;

/** Returns the sequence number of the newest test event that exceeds a limit; 0 if none does. */
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

/**
 * Removes test events beyond the limits, with their deliveries and attempts. Returns the number of removed
 * rows.
 */
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

/**
 * Repeats a removal of at most {@link batch} rows until it removes fewer. Returns the number of removed rows.
 */
async function untilThrough(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  let removed = batch;
  while (removed === batch) {
    removed = await remove();
    total += removed;
  }
  return total;
}

/**
 * Removes test payments, stored responses, logged requests and requests in inboxes beyond the limits. Returns
 * the number of removed rows.
 */
export async function boundTestRequests({ storage, clock }: Pick<Core, 'storage' | 'clock'>): Promise<{
  readonly payments: number;
  readonly answers: number;
  readonly requests: number;
  readonly inbox: number;
}> {
  const { partners, transfers, idempotency, requestLog, inbox } = storage;
  const { ageMs, payments, answers, requests } = testDataBounds;
  const before = clock.now() - ageMs;
  const total = { payments: 0, answers: 0, requests: 0, inbox: 0 };
  let found = await partners.list({ after: null, limit: partnersPage });
  for (let last = found.at(-1); last !== undefined; last = found.at(-1)) {
    for (const { slug } of found) {
      const owner = { partner: slug, mode: 'test', limit: batch } as const;
      total.payments += await untilThrough(() => transfers.removeOldest({ ...owner, ...payments, before }));
      total.answers += await untilThrough(() => idempotency.removeOldest({ ...owner, ...answers }));
      total.requests += await untilThrough(() => requestLog.removeOldest({ ...owner, ...requests }));
      const inboxQuota = { ...testDataBounds.inbox, before };
      total.inbox += await untilThrough(() => inbox.removeOldest({ ...owner, ...inboxQuota }));
    }
    found = await partners.list({ after: last.slug, limit: partnersPage });
  }
  return total;
}
