import { LRUCache } from 'lru-cache';

/** Attempts of one endpoint at once before it has answered for the first time. */
const unprovenLimit = 2;

/** Attempts of one endpoint at once at most. */
const maxLimit = 128;

/** The share of all attempts at once that endpoints which have not proven themselves may take together. */
const unprovenShare = 0.75;

interface Lane {
  inFlight: number;
  limit: number;
  /** Whether its last attempt was answered in time. */
  proven: boolean;
}

/**
 * How many attempts each endpoint may have under way, so that a dead one takes little from the others: an
 * endpoint begins with a few, gets one more for every answer, and one only while it does not answer. Those
 * that do not answer never fill the worker together.
 */
export interface Lanes {
  /** How many more attempts may begin. */
  readonly free: number;
  /** How many more attempts of any endpoint that {@link Lanes.slots} does not name. */
  readonly freeOfUnknown: number;
  /** For endpoints that have a history: how many more of their attempts may begin. */
  slots(): ReadonlyMap<string, number>;
  begin(endpointId: string): void;
  /** `answered`: whether an answer came, whatever its status. */
  end(endpointId: string, answered: boolean): void;
}

/** @param total - attempts under way at most */
export function createLanes(total: number): Lanes {
  // What an endpoint is like is forgotten after a while; what it has under way is not.
  const known = new LRUCache<string, Lane>({ max: 10_000, dispose: keepBusy });
  const busy = new Map<string, Lane>();
  const unprovenMax = Math.max(1, Math.floor(total * unprovenShare));
  let inFlight = 0;
  let unproven = 0;

  function keepBusy(lane: Lane, id: string, reason: string): void {
    if (reason === 'evict' && lane.inFlight > 0) busy.set(id, lane);
  }

  const laneOf = (id: string): Lane => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const lane = busy.get(id) ?? { inFlight: 0, limit: unprovenLimit, proven: false };
    busy.delete(id);
    known.set(id, lane);
    return lane;
  };

  /** Opened again only when there is some room, so that claims stay large. */
  const freeUnproven = () => {
    const free = unprovenMax - unproven;
    return free * 8 >= unprovenMax ? free : 0;
  };

  return {
    get free() {
      const unprovenRoom = freeUnproven();
      return Math.min(total - inFlight, unprovenRoom === 0 ? total : unprovenRoom);
    },
    get freeOfUnknown() {
      return Math.min(unprovenLimit, freeUnproven());
    },
    slots() {
      const slots = new Map<string, number>();
      const room = freeUnproven();
      for (const lanes of [known, busy]) {
        for (const [id, lane] of lanes.entries()) {
          const free = Math.max(0, lane.limit - lane.inFlight);
          slots.set(id, lane.proven ? free : Math.min(free, room));
        }
      }
      return slots;
    },
    begin(id) {
      const lane = laneOf(id);
      lane.inFlight += 1;
      inFlight += 1;
      if (!lane.proven) unproven += 1;
    },
    end(id, answered) {
      const lane = laneOf(id);
      if (!lane.proven) unproven -= lane.inFlight;
      lane.inFlight -= 1;
      inFlight -= 1;
      lane.proven = answered;
      lane.limit = answered ? Math.min(maxLimit, lane.limit + 1) : 1;
      if (!lane.proven) unproven += lane.inFlight;
    },
  };
}
