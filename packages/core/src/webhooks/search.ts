import type { EventFilter, EventRecord, EventStore } from '../ports/events.ts';
import type { Owner } from '../ports/partners.ts';

/** Filter members with which a search selects all events. */
export const everyEvent: Omit<EventFilter, keyof Owner> = {
  ...{ before: null, after: null, type: null, until: null, status: null, endpointId: null },
};

/** Number of sequence numbers that one step of a search covers, because no index supports the search. */
export const searchedEvents = 5_000;

/** Result of one step of a search for events. */
export interface FoundEvents {
  /** Events that the search found, newest first. */
  readonly events: readonly EventRecord[];
  /** True if the step covers more matching events than were returned. */
  readonly hasMore: boolean;
  /**
   * Value of `before` for the next step of the search, which continues with older events: the number of the
   * last event found, or the lowest number that was read. `null` if there are no older events.
   */
  readonly nextBefore: number | null;
}

/**
 * Returns events that pass a filter, newest first. With a filter by deliveries or times, covers at most
 * {@link searchedEvents} sequence numbers, so that its duration is bounded; another search continues.
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

  /**
   * Returns the position from which the search for older events continues; `null` if no older events are
   * stored.
   */
  async function olderThan(after: number): Promise<number | null> {
    if (after === 0) return null;
    const { oldestSequence } = await events.list({ ...owner, after, limit: 1 });
    return oldestSequence !== null && oldestSequence <= after ? after + 1 : null;
  }
}
