import type { Core } from '../options/context.ts';

/** Bounds of the data of one partner in test mode. The oldest events go first. */
export const testDataBounds = {
  /** Age of an event or a payment, in milliseconds. */
  ageMs: 7 * 24 * 3600_000,
  /** Number of events. */
  events: 10_000,
  /** Size of the events with their deliveries and attempts, in bytes; see {@link rowBytes}. */
  bytes: 100 * 1024 * 1024,
} as const;

export type TestDataBounds = { readonly [Bound in keyof typeof testDataBounds]: number };

/** Bytes of a row beside its texts, with its entries in indexes. PostgreSQL takes about a third more. */
const rowBytes = 512;

/** Events of one page of sizes. Each can have a delivery to every endpoint of the partner. */
const page = 100;

/** Events that one call removes at most. */
const batch = 50;

/** Payments that one call removes at most. */
const transferBatch = 500;

/** Partners of one page. */
const partnersPage = 500;

/** Returns the sequence number of the newest event that is beyond a bound; 0 if there is none. */
async function lastBeyond(
  { storage }: Pick<Core, 'storage'>,
  partner: string,
  now: number,
  bounds: TestDataBounds,
): Promise<number> {
  let [events, bytes, before] = [0, 0, Number.MAX_SAFE_INTEGER];
  for (;;) {
    const sizes = await storage.events.sizes({ partner, mode: 'test', before, limit: page });
    for (const size of sizes) {
      events += 1;
      bytes += size.bytes + size.rows * rowBytes;
      if (events > bounds.events || bytes > bounds.bytes || size.createdAt < now - bounds.ageMs)
        return size.sequence;
      before = size.sequence;
    }
    if (sizes.length < page) return 0;
  }
}

/** Removes the events of test mode that are beyond the bounds, with their deliveries and attempts. Returns how many. */
export async function boundTestData(
  core: Pick<Core, 'storage' | 'clock'>,
  bounds: TestDataBounds = testDataBounds,
): Promise<{ readonly events: number; readonly deliveries: number }> {
  const { events } = core.storage;
  const total = { events: 0, deliveries: 0 };
  let partners = await events.testPartners({ after: '', limit: partnersPage });
  for (let last = partners.at(-1); last !== undefined; last = partners.at(-1)) {
    for (const partner of partners) {
      const upTo = await lastBeyond(core, partner, core.clock.now(), bounds);
      if (upTo === 0) continue;
      let removed = { events: batch, deliveries: 0 };
      while (removed.events === batch) {
        removed = await events.removeOldest({ partner, mode: 'test', upTo, limit: batch });
        total.events += removed.events;
        total.deliveries += removed.deliveries;
      }
    }
    partners = await events.testPartners({ after: last, limit: partnersPage });
  }
  return total;
}

/** Removes the payments of test mode that are older than the bound. Returns how many. */
export async function removeOldTestTransfers({
  storage,
  clock,
}: Pick<Core, 'storage' | 'clock'>): Promise<number> {
  const before = clock.now() - testDataBounds.ageMs;
  let total = 0;
  let partners = await storage.partners.list({ after: null, limit: partnersPage });
  for (let last = partners.at(-1); last !== undefined; last = partners.at(-1)) {
    for (const { slug } of partners) {
      let removed = transferBatch;
      while (removed === transferBatch) {
        removed = await storage.transfers.removeOldest({
          partner: slug,
          mode: 'test',
          before,
          limit: transferBatch,
        });
        total += removed;
      }
    }
    partners = await storage.partners.list({ after: last.slug, limit: partnersPage });
  }
  return total;
}
