import type { EventFilter, EventRecord, EventStore } from '../ports/events.ts';
import type { Owner } from '../ports/partners.ts';

/** Excludes none. */
export const everyEvent: Omit<EventFilter, keyof Owner> = {
  ...{ before: null, after: null, type: null, until: null, status: null, endpointId: null },
};

/** How many places of the sequence one search looks at. No index knows what it asks for. */
export const searchedEvents = 5_000;

/** What was found. */
export interface FoundEvents {
  /** Newest first. */
  readonly events: readonly EventRecord[];
  /** Whether more that fit were found. */
  readonly hasMore: boolean;
  /** Where to go on (`before`): behind the last event, or behind what was looked at; `null` at the end of all. */
  readonly nextBefore: number | null;
}

/**
 * Events that pass a filter, newest first. Where it asks for deliveries or times, no more than {@link searchedEvents} are looked at,
 * so that it takes the same time whatever there is; the rest is another search.
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

  /** What was not looked at, unless it is gone. */
  async function olderThan(after: number): Promise<number | null> {
    if (after === 0) return null;
    const { oldestSequence } = await events.list({ ...owner, after, limit: 1 });
    return oldestSequence !== null && oldestSequence <= after ? after + 1 : null;
  }
}
