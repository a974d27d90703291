import type { PurgeCount } from '@ostiary/core/storage';
import { bytesKey, pairKey, type Tables } from './tables.ts';

/** Rows are removed before those that they belong to, so that none is ever left without its parent. */
export function purge(
  tables: Tables,
  request: {
    readonly now: number;
    readonly before: number;
    readonly eventsBefore: number;
    readonly limit: number;
  },
): PurgeCount {
  const { interactions, tokens, grants, idempotency } = tables;
  const { now, before, eventsBefore, limit } = request;
  const removed = {
    interactions: removeOldest(interactions, now, limit),
    tokens: removeOldest(tokens, before, limit),
    idempotency: removeOldest(idempotency, now, limit),
    deliveries: purgeDeliveries(tables, eventsBefore, limit),
  };
  const inUse = new Set([...tokens.values()].map(({ codeKey }) => codeKey));
  const withoutToken = (grant: { readonly codeDigest: Uint8Array }) => !inUse.has(bytesKey(grant.codeDigest));
  return {
    ...removed,
    grants: removeOldest(grants, before, limit, withoutToken),
    events: purgeEvents(tables, eventsBefore, limit),
    rateLimits: purgeWindows(tables, now - 60_000, limit),
  };
}

function removeOldest<Row extends { readonly expiresAt: number }>(
  table: Map<string, Row>,
  endedBefore: number,
  limit: number,
  matches: (row: Row) => boolean = () => true,
): number {
  const oldest = [...table]
    .filter(([, row]) => row.expiresAt < endedBefore && matches(row))
    .sort(([, a], [, b]) => a.expiresAt - b.expiresAt)
    .slice(0, limit);
  for (const [key] of oldest) table.delete(key);
  return oldest.length;
}

function purgeDeliveries({ deliveries }: Tables, createdBefore: number, limit: number): number {
  const oldest = [...deliveries.values()]
    .filter(({ status, createdAt }) => status !== 'pending' && createdAt < createdBefore)
    .sort((a, b) => a.createdAt - b.createdAt)
    .slice(0, limit);
  for (const { id } of oldest) deliveries.delete(id);
  return oldest.length;
}

/** From the beginning of each sequence up to the first event that has to stay. */
function purgeEvents({ events, deliveries }: Tables, createdBefore: number, limit: number): number {
  const inUse = new Set([...deliveries.values()].map(({ eventId }) => eventId));
  const kept = new Set<string>();
  let removed = 0;
  for (const { id, partner, mode, createdAt } of events.values()) {
    if (removed === limit) break;
    const sequence = pairKey(partner, mode);
    if (kept.has(sequence)) continue;
    if (createdAt < createdBefore && !inUse.has(id)) {
      events.delete(id);
      removed += 1;
    } else {
      kept.add(sequence);
    }
  }
  return removed;
}

function purgeWindows({ rateLimits }: Tables, endedBefore: number, limit: number): number {
  const oldest = [...rateLimits]
    .filter(([, { endsAt }]) => endsAt < endedBefore)
    .sort(([, a], [, b]) => a.endsAt - b.endsAt)
    .slice(0, limit);
  for (const [bucket] of oldest) rateLimits.delete(bucket);
  return oldest.length;
}
