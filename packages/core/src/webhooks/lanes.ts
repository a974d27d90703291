import { LRUCache } from 'lru-cache';

/** Attempts of one endpoint at once before it has answered for the first time. */
const unprovenLimit = 2;

/** Attempts of one endpoint at once at most. */
const maxLimit = 128;

/** The share of all attempts at once that endpoints which have not proven themselves may take together. */
const unprovenShare = 0.75;

/** For how long what is claimed ahead keeps an endpoint busy that goes on answering as it did last, in milliseconds. */
const aheadMs = 50;

/** The share of all attempts at once that may be claimed ahead for one endpoint. */
const aheadShare = 0.5;

interface Lane {
  inFlight: number;
  limit: number;
  /** How many deliveries may wait here for an attempt to end. */
  ahead: number;
  /** Whether its last attempt was answered in time. */
  proven: boolean;
}

/**
 * How many attempts each endpoint may have under way, so that a dead one takes little from the others: an
 * endpoint begins with a few, gets one more for every answer, and one only while it does not answer. Those
 * that do not answer never fill the worker together. For one that answers quickly some are claimed ahead, so that it
 * does not wait for the database after every answer.
 */
export interface Lanes {
  /** How many more attempts may begin. */
  readonly free: number;
  /** How many more attempts of any endpoint that {@link Lanes.slots} does not name. */
  readonly freeOfUnknown: number;
  /** For endpoints that have a history: how many more of their deliveries may be claimed. */
  slots(): ReadonlyMap<string, number>;
  /** Whether a claim could bring something for an endpoint that has a history. */
  hasSlots(): boolean;
  /** Whether a delivery that was claimed ahead has to wait until an attempt of its endpoint ends. */
  isFull(endpointId: string): boolean;
  begin(endpointId: string): void;
  /**
   * @param answered - whether an answer came, whatever its status
   * @param durationMs - how long it took; without it nothing is claimed ahead
   */
  end(endpointId: string, answered: boolean, durationMs?: number): void;
}

/** What an endpoint shows with the end of an attempt. */
function learn(lane: Lane, answered: boolean, durationMs: number, maxAhead: number): void {
  lane.proven = answered;
  lane.limit = answered ? Math.min(maxLimit, lane.limit + 1) : 1;
  const inTime = Math.floor((lane.limit * aheadMs) / Math.max(1, durationMs));
  lane.ahead = answered ? Math.min(maxAhead, inTime) : 0;
}

/**
 * @param total - attempts under way at most
 * @param waitingOf - how many deliveries of an endpoint wait already
 */
export function createLanes(total: number, waitingOf: (endpointId: string) => number = () => 0): Lanes {
  // What an endpoint is like is forgotten after a while; what it has under way is not.
  const known = new LRUCache<string, Lane>({ max: 10_000, dispose: keepBusy });
  const busy = new Map<string, Lane>();
  const unprovenMax = Math.max(1, Math.floor(total * unprovenShare));
  const maxAhead = Math.floor(total * aheadShare);
  let inFlight = 0;
  let unproven = 0;

  function keepBusy(lane: Lane, id: string, reason: string): void {
    if (reason === 'evict' && lane.inFlight > 0) busy.set(id, lane);
  }

  const laneOf = (id: string): Lane => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const lane = busy.get(id) ?? { inFlight: 0, limit: unprovenLimit, ahead: 0, proven: false };
    busy.delete(id);
    known.set(id, lane);
    return lane;
  };

  /** Opened again only when there is some room, so that claims stay large. */
  const freeUnproven = () => {
    const free = unprovenMax - unproven;
    return free * 8 >= unprovenMax ? free : 0;
  };

  /** @param room - for attempts of endpoints that have not proven themselves */
  const slotsOf = (id: string, lane: Lane, room: number) => {
    const most = lane.limit + lane.ahead;
    const waiting = waitingOf(id);
    const left = Math.max(0, most - lane.inFlight - waiting);
    // As long as some wait, only when there is enough for a claim to be worth it.
    const free = waiting > 0 && left * 4 < most ? 0 : left;
    return lane.proven ? free : Math.min(free, room);
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
      const room = freeUnproven();
      const lanes = [...known.entries(), ...busy.entries()];
      return new Map(lanes.map(([id, lane]) => [id, slotsOf(id, lane, room)]));
    },
    hasSlots() {
      const room = freeUnproven();
      for (const lanes of [known, busy]) {
        for (const [id, lane] of lanes.entries()) if (slotsOf(id, lane, room) > 0) return true;
      }
      return false;
    },
    isFull(id) {
      const lane = known.peek(id) ?? laneOf(id);
      return lane.proven && lane.inFlight >= lane.limit;
    },
    begin(id) {
      const lane = laneOf(id);
      lane.inFlight += 1;
      inFlight += 1;
      if (!lane.proven) unproven += 1;
    },
    end(id, answered, durationMs = Number.POSITIVE_INFINITY) {
      const lane = laneOf(id);
      if (!lane.proven) unproven -= lane.inFlight;
      lane.inFlight -= 1;
      inFlight -= 1;
      learn(lane, answered, durationMs, maxAhead);
      if (!lane.proven) unproven += lane.inFlight;
    },
  };
}
