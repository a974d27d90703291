import { maxAtAddress } from './target-limits.ts';

/** Maximum number of concurrent attempts to an endpoint that has not responded yet. */
const unprovenLimit = 2;

/**
 * Maximum number of concurrent attempts to one endpoint. A partner may take no more than half of the places of
 * one IP address, so further attempts would only wait there.
 */
const maxLimit = maxAtAddress / 2;

/**
 * Response time in milliseconds up to which an endpoint counts as proven. Slower endpoints together may use
 * only a part of the worker's attempts, as endpoints that have not responded yet.
 */
const promptMs = 1_000;

/** Fraction of a worker's concurrent attempts that endpoints without a prompt response may take together. */
const unprovenShare = 0.75;

/**
 * Response time in milliseconds up to which a worker may claim an endpoint's deliveries ahead, before an
 * attempt is free.
 */
const quickMs = 50;

/**
 * Maximum number of deliveries that are claimed ahead for an endpoint, as a multiple of the attempts that may
 * run to it at once.
 */
const aheadFactor = 16;

/**
 * Maximum number of deliveries that are claimed ahead for one endpoint, as a fraction of the worker's
 * concurrent attempts.
 */
const aheadShare = 0.5;

/** Number of endpoints in memory beyond which endpoints without running attempts are forgotten. */
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
 * endpoint starts with a few attempts, gets one more after every response up to a limit, and drops to one
 * when it does not respond. New attempts to endpoints that are new, slow or do not respond start only while
 * all of these together use less than three quarters of the worker. For a quick endpoint deliveries are
 * claimed ahead, so that it does not wait for the database after every response.
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
   * Returns how many attempts to endpoints without a prompt response may start; 0 unless an eighth of the
   * places for such attempts is free, so that claims stay large.
   */
  function freeUnproven(): number {
    const free = unprovenMax - unproven;
    return free * 8 >= unprovenMax ? free : 0;
  }

  /**
   * Returns the number of deliveries that may be claimed for an endpoint. @param room - number of attempts
   * that may still start to endpoints without a prompt response
   */
  function slotsOf(id: string, { inFlight, limit, proven, quick }: EndpointAttempts, room: number): number {
    const most = limit + (quick ? Math.min(maxAhead, aheadFactor * limit) : 0);
    const waiting = waitingOf(id);
    const left = Math.max(0, most - inFlight - waiting);
    // While some wait, claim more only if a quarter of the places is free, which makes the claim worth it.
    const free = waiting > 0 && left * 4 < most ? 0 : left;
    return proven ? free : Math.min(free, room);
  }

  return {
    /**
     * Maximum number of deliveries that the next claim may take. All of them could be for endpoints without a
     * prompt response, unless no attempt to such endpoints may start.
     */
    get free(): number {
      const unprovenRoom = freeUnproven();
      return Math.min(total - inFlight, unprovenRoom === 0 ? total : unprovenRoom);
    },
    /** Number of deliveries that may be claimed for each endpoint that had no attempts before. */
    get freeOfUnknown(): number {
      return Math.min(unprovenLimit, freeUnproven());
    },
    /** Returns the number of deliveries that may be claimed for each endpoint that had attempts before. */
    slots(): ReadonlyMap<string, number> {
      const room = freeUnproven();
      return new Map(Array.from(endpoints, ([id, attempts]) => [id, slotsOf(id, attempts, room)]));
    },
    /** Checks whether a claim could return deliveries of an endpoint that had attempts before. */
    hasSlots(): boolean {
      const room = freeUnproven();
      for (const [id, attempts] of endpoints) if (slotsOf(id, attempts, room) > 0) return true;
      return false;
    },
    /** Checks whether a delivery that was claimed ahead must wait until an attempt to its endpoint ends. */
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
    /** Ends an attempt that was not made after all, which says nothing about its endpoint. */
    giveBack(id: string): void {
      const attempts = attemptsOf(id);
      attempts.inFlight -= 1;
      inFlight -= 1;
      if (!attempts.proven) unproven -= 1;
    },
    /**
     * Ends an attempt and adapts the limit of its endpoint. @param answeredMs - response time in
     * milliseconds, with any status; `null` if there was no response
     */
    end(id: string, answeredMs: number | null): void {
      const attempts = attemptsOf(id);
      if (!attempts.proven) unproven -= attempts.inFlight;
      attempts.inFlight -= 1;
      inFlight -= 1;
      attempts.proven = answeredMs !== null && answeredMs <= promptMs;
      attempts.quick = answeredMs !== null && answeredMs <= quickMs;
      attempts.limit = answeredMs === null ? 1 : Math.min(maxLimit, attempts.limit + 1);
      if (!attempts.proven) unproven += attempts.inFlight;
    },
  };
}
