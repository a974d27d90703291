/** What a limiter says of one request. */
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
   * once.
   */
  consume(request: {
    readonly bucket: string;
    readonly limit: number;
    readonly windowMs: number;
    readonly now: number;
  }): Promise<RateLimitState>;
}

/**
 * Counts that all processes on one storage share. `consume` says in one step whether the request is counted and what
 * the window is then, also when it is refused: a look after it could find the window of a later request.
 */
export interface SharedRateLimits extends RateLimitStore {
  /** What `consume` would say of a request, `count` without it: for limits that count only what went wrong. */
  peek(request: Parameters<RateLimitStore['consume']>[0]): Promise<RateLimitState>;
  /**
   * `consume`, and whether an API key is live (`isLive` of the keys) at a moment after this call: every request of a partner
   * asks for both, so they are one look at the storage.
   */
  consumeOfKey(
    keyId: string,
    request: Parameters<RateLimitStore['consume']>[0],
  ): Promise<RateLimitState & { readonly keyIsLive: boolean }>;
}
