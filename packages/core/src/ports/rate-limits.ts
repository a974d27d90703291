/** Decision of a limiter about one request. */
export interface RateLimitState {
  readonly allowed: boolean;
  /** Requests that were counted in this window, this one included if it was allowed. */
  readonly count: number;
  /** End of the window, in milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** Counts requests in fixed windows, each beginning with its first counted request. */
export interface RateLimitStore {
  /**
   * Counts a request unless the window is full; a refused one is not counted. Exact, however many come at
   * once. A window is over at its end. It is over as well when its end is more than five seconds later than `now + windowMs`: it
   * began before the clock went back.
   */
  consume(request: {
    readonly bucket: string;
    readonly limit: number;
    readonly windowMs: number;
    readonly now: number;
  }): Promise<RateLimitState>;
}

/**
 * Counts requests, and can read a count without adding to it: for limits that count only failures. On a storage all processes share
 * the counts. `consume` counts and returns the window in one step, also when it refuses: a read after it could find the window of a
 * later request.
 */
export interface AddressCounts extends RateLimitStore {
  /** Returns what `consume` would return for each of these requests, in their order, with a `count` that leaves them out. */
  peek(requests: readonly Parameters<RateLimitStore['consume']>[0][]): Promise<readonly RateLimitState[]>;
}
