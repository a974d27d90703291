import { LRUCache } from 'lru-cache';
import type { EventRecord, EventStore } from '../ports/events.ts';
import type { Owner } from '../ports/owner.ts';

/** Events on one page. */
export const eventsPerPage = 20;

/** A page of a partner's events, newest first. */
export interface EventPage {
  readonly events: readonly EventRecord[];
  /** What to ask for next, in either direction; `null` where there is nothing more. */
  readonly newerThan: number | null;
  readonly olderThan: number | null;
}

/** A partner's events, the newest first, out of a store that lists them in their order. */
export interface History {
  /** @param before - the sequence number before which the page begins; `null`: the newest */
  page(owner: Owner, before: number | null): Promise<EventPage>;
}

/** See {@link History}. */
export function createHistory(store: EventStore): History {
  // Where the end was when it was last looked for: from there it is a step, from the beginning a search.
  const ends = new LRUCache<string, number>({ max: 10_000 });

  async function first(owner: Owner, from: number): Promise<EventRecord[]> {
    const { events } = await store.list({ ...owner, after: Math.max(0, from - 1), limit: eventsPerPage + 1 });
    return events;
  }

  const exists = async (owner: Owner, sequence: number): Promise<boolean> => {
    const { events } = await store.list({ ...owner, after: sequence - 1, limit: 1 });
    return events.length > 0;
  };

  /** Steps that double until they go too far, then halves. Numbers have no gap between oldest and newest. */
  async function search(owner: Owner, known: number): Promise<number> {
    let low = known;
    let step = eventsPerPage;
    while (await exists(owner, low + step)) {
      low += step;
      step *= 2;
    }
    let high = low + step;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (await exists(owner, middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The number of the newest event, 0 when none is kept. */
  async function newest(owner: Owner): Promise<number> {
    const name = `${owner.partner} ${owner.mode}`;
    const known = ends.get(name) ?? 0;
    let events = await first(owner, known);
    if (events.length === 0 && known > 0) events = await first(owner, 0);
    const last = events.at(-1)?.sequence ?? 0;
    const end = events.length > eventsPerPage ? await search(owner, last) : last;
    ends.set(name, end);
    return end;
  }

  return {
    async page(owner, before) {
      const end = await newest(owner);
      const top = before === null ? end : Math.min(end, before - 1);
      const { events, oldestSequence } = await store.list({
        ...owner,
        after: Math.max(0, top - eventsPerPage),
        limit: eventsPerPage,
      });
      const shown = events.filter(({ sequence }) => sequence <= top).reverse();
      const bottom = shown.at(-1)?.sequence ?? 0;
      return {
        events: shown,
        newerThan: top < end ? top + eventsPerPage + 1 : null,
        olderThan: oldestSequence !== null && bottom > oldestSequence ? bottom : null,
      };
    },
  };
}
