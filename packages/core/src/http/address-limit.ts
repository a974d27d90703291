import { OAuthError } from '../errors.ts';
import { addressBuckets } from '../limits/client-address.ts';
import { secondsUntil } from '../limits/fixed-windows.ts';
import type { RateLimitState, RateLimitStore } from '../ports/rate-limits.ts';

/** @throws OAuthError `slow_down` that says when to come again, unless all of them allow one more */
export function requireAllowed(states: readonly RateLimitState[], now: number, description: string): void {
  const full = states.find(({ allowed }) => !allowed);
  if (full === undefined) return;
  throw new OAuthError('slow_down', description, {
    headers: { 'Retry-After': secondsUntil(full.endsAt, now) },
  });
}

/** Length of the windows in which addresses are counted, in milliseconds. */
export const limitWindowMs = 60_000;

/**
 * Limits what each client address does in a minute, and more widely each network of IPv6. An address of `null` is one that
 * cannot be determined.
 *
 * @param counts - of all processes, or of this one
 * @param name - of what is counted; limits of one name share their counts
 */
export function addressLimit(
  counts: RateLimitStore,
  { name, limit }: { readonly name: string; readonly limit: number },
) {
  /** Counts for an address and the networks around it. */
  const requests = (address: string | null, now: number) =>
    addressBuckets(address).map(({ name: network, times }) => ({
      bucket: `${name}:address:${network}`,
      limit: limit * times,
      windowMs: limitWindowMs,
      now,
    }));

  return {
    requests,
    /** Counts one event, unless there were as many as are allowed. */
    async consume(address: string | null, now: number): Promise<RateLimitState> {
      let state: RateLimitState = { allowed: true, count: 0, endsAt: now };
      for (const request of requests(address, now)) {
        state = await counts.consume(request);
        // Further requests of a full network are not counted against its neighbours.
        if (!state.allowed) break;
      }
      return state;
    },
  };
}
