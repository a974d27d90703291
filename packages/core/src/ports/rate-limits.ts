/** Decision of a rate limiter about one request. */
export interface RateLimitState {
  readonly allowed: boolean;
  /** Number of requests counted in this window, including this one if it was allowed. */
  readonly count: number;
  /** End of the window, in milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** Counts requests in time windows of fixed length. A window starts with its first counted request. */
export interface RateLimitStore {
  /**
   * Counts a request unless the rate limit window is full; a refused request is not counted. Exact under
   * concurrency. A window ends at its end time. It also ends if its end time is more than five seconds after
   * `now + windowMs`, because it then began before the clock was set back.
   */
  consume(request: {
    readonly bucket: string;
    readonly limit: number;
    readonly windowMs: number;
    readonly now: number;
  }): Promise<RateLimitState>;
}

/**
 * Rate limit counts that can also be read without counting, for limits that count only failures. Counts in a
 * storage are shared by all processes. `consume` counts and returns the window in one step, also if it
 * refuses the request, because a separate read could see a later window.
 */
export interface AddressCounts extends RateLimitStore {
  /**
   * Returns for each request what `consume` would return, in order and without counting. Each `count` leaves
   * out the request itself.
   */
  peek(requests: readonly Parameters<RateLimitStore['consume']>[0][]): Promise<readonly RateLimitState[]>;
}
