import type { EventFilter, EventRecord, EventStore } from '../ports/events.ts';
import type { Owner } from '../ports/partners.ts';

/** Excludes none. */
export const everyEvent: Omit<EventFilter, keyof Owner> = {
  ...{ before: null, after: null, type: null, until: null, status: null, endpointId: null },
};

/** Number of places of the sequence that one search reads. It has no index. */
export const searchedEvents = 5_000;

/** Result of a search. */
export interface FoundEvents {
  /** Newest first. */
  readonly events: readonly EventRecord[];
  /** True if more matching events exist. */
  readonly hasMore: boolean;
  /**
   * Place where the next search continues (`before`): after the last event, or after the places that were
   * read; `null` at the end.
   */
  readonly nextBefore: number | null;
}

/**
 * Returns events that pass a filter, newest first. If it filters by deliveries or times, it reads at most
 * {@link searchedEvents}, so that its duration is bounded. Another search continues.
 */
export async function searchEvents(
  events: EventStore,
  filter: Omit<EventFilter, 'after'>,
  limit: number,
): Promise<FoundEvents> {
  const { partner, mode, before, until, status, endpointId } = filter;
  const owner = { partner, mode };
  let after = 0;
  if (until !== null || status !== null || endpointId !== null) {
    const [newest] = before === null ? await events.latest({ ...everyEvent, ...owner, limit: 1 }) : [];
    after = Math.max(0, (before ?? (newest?.sequence ?? 0) + 1) - 1 - searchedEvents);
  }
  const found = await events.latest({ ...filter, after, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const hasMore = found.length > limit;
  return {
    events: shown,
    hasMore,
    nextBefore: hasMore ? (shown.at(-1)?.sequence ?? null) : await olderThan(after),
  };

  /** Events that were not read, unless they are gone. */
  async function olderThan(after: number): Promise<number | null> {
    if (after === 0) return null;
    const { oldestSequence } = await events.list({ ...owner, after, limit: 1 });
    return oldestSequence !== null && oldestSequence <= after ? after + 1 : null;
  }
}
