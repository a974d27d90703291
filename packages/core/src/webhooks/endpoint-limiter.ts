/** Maximum number of concurrent attempts of an endpoint that has not responded yet. */
const unprovenLimit = 2;

/** Maximum number of concurrent attempts of one endpoint. */
const maxLimit = 64;

/** Maximum number of concurrent attempts of one slow endpoint. */
const maxSlowLimit = 32;

/**
 * Response time in milliseconds up to which an endpoint counts as proven. Slower endpoints share the limited
 * places of unproven ones.
 */
const promptMs = 1_000;

/** Share of all concurrent attempts that unproven endpoints may take together. */
const unprovenShare = 0.75;

/** Response time in milliseconds up to which deliveries of an endpoint may be claimed ahead. */
const quickMs = 50;

/** Maximum number of deliveries claimed ahead for an endpoint, as a multiple of its concurrent attempts. */
const aheadFactor = 16;

/** Maximum number of deliveries claimed ahead for one endpoint, as a share of all concurrent attempts. */
const aheadShare = 0.5;

/** Number of endpoints in memory beyond which idle ones are discarded. */
const maxKnown = 10_000;

interface EndpointAttempts {
  inFlight: number;
  limit: number;
  /** True if the last attempt got a prompt response. */
  proven: boolean;
  /** True if the last response was so quick that deliveries may be claimed ahead. */
  quick: boolean;
}

/**
 * Limits the concurrent attempts of each endpoint, so that a dead endpoint takes little from the others. An
 * endpoint starts with a few attempts, gets one more after every response, and drops to one when it does not
 * respond. Endpoints that are slow or do not respond never fill the worker together. For a quick endpoint
 * deliveries are claimed ahead, so that it does not wait for the database after every response.
 * @param total - maximum number of concurrent attempts of all endpoints
 * @param waitingOf - returns the number of an endpoint's deliveries that are claimed and wait
 */
export function createEndpointLimiter(total: number, waitingOf: (endpointId: string) => number = () => 0) {
  const endpoints = new Map<string, EndpointAttempts>();
  const unprovenMax = Math.max(1, Math.floor(total * unprovenShare));
  const maxAhead = Math.floor(total * aheadShare);
  let inFlight = 0;
  let unproven = 0;

  function attemptsOf(id: string): EndpointAttempts {
    const known = endpoints.get(id);
    if (known !== undefined) return known;
    if (endpoints.size >= maxKnown) forgetIdle();
    const attempts = { inFlight: 0, limit: unprovenLimit, proven: false, quick: false };
    endpoints.set(id, attempts);
    return attempts;
  }

  function forgetIdle(): void {
    for (const [id, attempts] of endpoints) if (attempts.inFlight === 0) endpoints.delete(id);
  }

  /**
   * Returns the number of free places for unproven endpoints; 0 unless an eighth is free, so that claims stay
   * large.
   */
  function freeUnproven(): number {
    const free = unprovenMax - unproven;
    return free * 8 >= unprovenMax ? free : 0;
  }

  /** Returns the number of deliveries that may be claimed for an endpoint. @param room - number of attempts that may still start to endpoints that have not answered yet */
  function slotsOf(id: string, { inFlight, limit, proven, quick }: EndpointAttempts, room: number): number {
    const most = limit + (quick ? Math.min(maxAhead, aheadFactor * limit) : 0);
    const waiting = waitingOf(id);
    const left = Math.max(0, most - inFlight - waiting);
    // While some wait, claim more only if a quarter of the places is free, which makes the claim worth it.
    const free = waiting > 0 && left * 4 < most ? 0 : left;
    return proven ? free : Math.min(free, room);
  }

  return {
    /** Number of further attempts that may start. */
    get free(): number {
      const unprovenRoom = freeUnproven();
      return Math.min(total - inFlight, unprovenRoom === 0 ? total : unprovenRoom);
    },
    /** Number of further attempts of each endpoint that `slots` does not name. */
    get freeOfUnknown(): number {
      return Math.min(unprovenLimit, freeUnproven());
    },
    /** Returns the number of deliveries that may be claimed for each endpoint with a history. */
    slots(): ReadonlyMap<string, number> {
      const room = freeUnproven();
      return new Map(Array.from(endpoints, ([id, attempts]) => [id, slotsOf(id, attempts, room)]));
    },
    /** Checks whether a claim could return deliveries of an endpoint with a history. */
    hasSlots(): boolean {
      const room = freeUnproven();
      for (const [id, attempts] of endpoints) if (slotsOf(id, attempts, room) > 0) return true;
      return false;
    },
    /** Checks whether a delivery claimed ahead must wait until an attempt of its endpoint ends. */
    isFull(id: string): boolean {
      const { proven, inFlight, limit } = attemptsOf(id);
      return proven && inFlight >= limit;
    },
    begin(id: string): void {
      const attempts = attemptsOf(id);
      attempts.inFlight += 1;
      inFlight += 1;
      if (!attempts.proven) unproven += 1;
    },
    /** Checks whether the endpoint's last attempt got a prompt response. */
    isProven: (id: string): boolean => attemptsOf(id).proven,
    /** Releases the place of an attempt that was not made, which says nothing about its endpoint. */
    giveBack(id: string): void {
      const attempts = attemptsOf(id);
      attempts.inFlight -= 1;
      inFlight -= 1;
      if (!attempts.proven) unproven -= 1;
    },
    /** Ends an attempt and adapts the endpoint's limit. @param answeredMs - response time in milliseconds, whatever the status; `null` if there was no response */
    end(id: string, answeredMs: number | null): void {
      const attempts = attemptsOf(id);
      if (!attempts.proven) unproven -= attempts.inFlight;
      attempts.inFlight -= 1;
      inFlight -= 1;
      attempts.proven = answeredMs !== null && answeredMs <= promptMs;
      attempts.quick = answeredMs !== null && answeredMs <= quickMs;
      attempts.limit =
        answeredMs === null ? 1 : Math.min(attempts.proven ? maxLimit : maxSlowLimit, attempts.limit + 1);
      if (!attempts.proven) unproven += attempts.inFlight;
    },
  };
}
