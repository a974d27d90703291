import type { ClientState } from './clients.ts';
import type { GrantState } from './grants.ts';

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

/** Counts what addresses do; of some things only what went wrong counts, so that it is looked at before. */
export interface AddressCounts extends RateLimitStore {
  /** Results that `consume` would return for these requests, in their order, without counting. */
  peek(requests: readonly Parameters<RateLimitStore['consume']>[0][]): Promise<readonly RateLimitState[]>;
}

/**
 * Counts that all processes on one storage share. `consume` returns in one step whether the request is
 * counted and the state of the window, also when it refuses: a later query could find the window of a later
 * request.
 */
export interface SharedRateLimits extends RateLimitStore {
  /**
   * What `consume` would say of these requests, `count` without them, for limits that count only what went wrong; and the
   * client and the grant that an exchange of a code names, both as their stores answer them. Every exchange asks for all of it, so
   * it is one look at the storage.
   * @param presented - `null` where nothing can be looked up
   */
  peek(
    requests: readonly Parameters<RateLimitStore['consume']>[0][],
    presented: PresentedCode | null,
  ): Promise<PeekedExchange>;
}

/** What names a client and a grant. */
export interface PresentedCode {
  readonly clientId: string;
  /** SHA-256 of the authorization code. */
  readonly codeDigest: Uint8Array;
}

/** What an exchange of a code is decided by. */
export interface PeekedExchange {
  /** In the order of the requests. */
  readonly states: readonly RateLimitState[];
  readonly client: ClientState | null;
  readonly grant: GrantState | null;
}
