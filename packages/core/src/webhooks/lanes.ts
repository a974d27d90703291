/** Attempts of one endpoint at once before it has answered for the first time. */
const unprovenLimit = 2;

/** Attempts of one endpoint at once at most. */
const maxLimit = 64;

/** The same of an endpoint that takes its time. */
const maxSlowLimit = 32;

/** An answer that takes longer, in milliseconds, does not prove that an endpoint is well. */
const promptMs = 1_000;

/** The share of all attempts at once that endpoints which have not proven themselves may take together. */
const unprovenShare = 0.75;

/** An endpoint that answers within so many milliseconds may have some claimed ahead. */
const quickMs = 50;

/** Number of claimed deliveries of an endpoint, as a multiple of its attempts under way. */
const aheadFactor = 16;

/** The share of all attempts at once that may be claimed ahead for one endpoint. */
const aheadShare = 0.5;

/** So many endpoints are remembered; more only while something of them is under way. */
const maxKnown = 10_000;

interface Lane {
  inFlight: number;
  limit: number;
  /** Says whether its last attempt was answered promptly. */
  proven: boolean;
  /** Checks whether an answer came so soon that other deliveries may wait here for it to end. */
  quick: boolean;
}

/**
 * Limits how many attempts each endpoint may have under way, so that a dead one takes little from the others: an
 * endpoint begins with a few, gets one more for every answer, and one only while it does not answer. Endpoints
 * that do not answer, or answer slowly, never fill the worker together. For an endpoint that answers quickly some are claimed ahead,
 * so that it does not wait for the database after every answer.
 * @param total - attempts under way at most
 * @param waitingOf - how many deliveries of an endpoint wait already
 */
export function createLanes(total: number, waitingOf: (endpointId: string) => number = () => 0) {
  const lanes = new Map<string, Lane>();
  const unprovenMax = Math.max(1, Math.floor(total * unprovenShare));
  const maxAhead = Math.floor(total * aheadShare);
  let inFlight = 0;
  let unproven = 0;

  function laneOf(id: string): Lane {
    const known = lanes.get(id);
    if (known !== undefined) return known;
    if (lanes.size >= maxKnown) forgetIdle();
    const lane = { inFlight: 0, limit: unprovenLimit, proven: false, quick: false };
    lanes.set(id, lane);
    return lane;
  }

  function forgetIdle(): void {
    for (const [id, lane] of lanes) if (lane.inFlight === 0) lanes.delete(id);
  }

  /** Opened again only when there is some room, so that claims stay large. */
  function freeUnproven(): number {
    const free = unprovenMax - unproven;
    return free * 8 >= unprovenMax ? free : 0;
  }

  /** @param room - for attempts of endpoints that have not proven themselves */
  function slotsOf(id: string, { inFlight, limit, proven, quick }: Lane, room: number): number {
    const most = limit + (quick ? Math.min(maxAhead, aheadFactor * limit) : 0);
    const waiting = waitingOf(id);
    const left = Math.max(0, most - inFlight - waiting);
    // As long as some wait, only when there is enough for a claim to be worth it.
    const free = waiting > 0 && left * 4 < most ? 0 : left;
    return proven ? free : Math.min(free, room);
  }

  return {
    /** Number of further attempts that may begin. */
    get free(): number {
      const unprovenRoom = freeUnproven();
      return Math.min(total - inFlight, unprovenRoom === 0 ? total : unprovenRoom);
    },
    /** Number of further attempts of any endpoint that `slots` does not name. */
    get freeOfUnknown(): number {
      return Math.min(unprovenLimit, freeUnproven());
    },
    /** For endpoints that have a history: how many more of their deliveries may be claimed. */
    slots(): ReadonlyMap<string, number> {
      const room = freeUnproven();
      return new Map(Array.from(lanes, ([id, lane]) => [id, slotsOf(id, lane, room)]));
    },
    /** Checks whether a claim could return deliveries of an endpoint with a history. */
    hasSlots(): boolean {
      const room = freeUnproven();
      for (const [id, lane] of lanes) if (slotsOf(id, lane, room) > 0) return true;
      return false;
    },
    /** Checks whether a delivery that was claimed ahead must wait until an attempt of its endpoint ends. */
    isFull(id: string): boolean {
      const { proven, inFlight, limit } = laneOf(id);
      return proven && inFlight >= limit;
    },
    begin(id: string): void {
      const lane = laneOf(id);
      lane.inFlight += 1;
      inFlight += 1;
      if (!lane.proven) unproven += 1;
    },
    /** Says whether its last attempt was answered promptly. */
    isProven: (id: string): boolean => laneOf(id).proven,
    /** Ends an attempt that was not made, which says nothing about its endpoint. */
    giveBack(id: string): void {
      const lane = laneOf(id);
      lane.inFlight -= 1;
      inFlight -= 1;
      if (!lane.proven) unproven -= 1;
    },
    /** @param answeredMs - how long the answer took, whatever its status; `null`: there was none */
    end(id: string, answeredMs: number | null): void {
      const lane = laneOf(id);
      if (!lane.proven) unproven -= lane.inFlight;
      lane.inFlight -= 1;
      inFlight -= 1;
      lane.proven = answeredMs !== null && answeredMs <= promptMs;
      lane.quick = answeredMs !== null && answeredMs <= quickMs;
      lane.limit = answeredMs === null ? 1 : Math.min(lane.proven ? maxLimit : maxSlowLimit, lane.limit + 1);
      if (!lane.proven) unproven += lane.inFlight;
    },
  };
}
