import { OAuthError } from '../errors.ts';
import { addressBuckets } from '../limits/client-address.ts';
import { secondsUntil } from '../limits/fixed-windows.ts';
import type { RateLimitState, RateLimitStore } from '../ports/rate-limits.ts';

/**
 * Refuses a request if one of the given rate limits is reached. @throws OAuthError `slow_down` with
 * `Retry-After`
 */
export function requireAllowed(states: readonly RateLimitState[], now: number, description: string): void {
  const full = states.find(({ allowed }) => !allowed);
  if (full === undefined) return;
  throw new OAuthError('slow_down', description, {
    headers: { 'Retry-After': secondsUntil(full.endsAt, now) },
  });
}

/**
 * Default length of a rate limit window of a client address, in milliseconds. Limits per client or grant of the OAuth
 * endpoints use the same length.
 */
export const limitWindowMs = 60_000;

/**
 * Creates a rate limit for each client address, with higher limits for the IPv6 networks around it. All
 * clients whose address cannot be determined (`null`) share one count.
 *
 * @param counts - store of the counts, for all processes or for this one
 * @param name - name of the limit; limits with one name share their counts
 * @param windowMs - length of a window, a minute by default
 */
export function addressLimit(
  counts: RateLimitStore,
  {
    name,
    limit,
    windowMs = limitWindowMs,
  }: { readonly name: string; readonly limit: number; readonly windowMs?: number },
) {
  /** Builds the requests to the store of counts for an address and the networks around it. */
  const requests = (address: string | null, now: number) =>
    addressBuckets(address).map(({ name: network, times }) => ({
      bucket: `${name}:address:${network}`,
      limit: limit * times,
      windowMs,
      now,
    }));

  return {
    requests,
    /** Counts one request of an address, unless the limit is reached. */
    async consume(address: string | null, now: number): Promise<RateLimitState> {
      let state: RateLimitState = { allowed: true, count: 0, endsAt: now };
      for (const request of requests(address, now)) {
        state = await counts.consume(request);
        // Stop here: requests that a network's full limit refuses must not use up the wider networks' limits,
        // which others share.
        if (!state.allowed) break;
      }
      return state;
    },
  };
}
