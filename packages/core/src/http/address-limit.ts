import { addressBuckets } from '../addresses.ts';
import { OAuthError } from '../errors.ts';
import { fixedWindows, secondsUntil } from '../fixed-windows.ts';
import type { RateLimitState, SharedRateLimits } from '../ports/rate-limits.ts';

/** @throws OAuthError `slow_down` that says when to come again, unless one more is allowed */
export function requireAllowed({ allowed, endsAt }: RateLimitState, now: number, description: string): void {
  if (allowed) return;
  throw new OAuthError('slow_down', description, { headers: { 'Retry-After': secondsUntil(endsAt, now) } });
}

const windowMs = 60_000;

/**
 * Limits what each client address does in a minute, and more widely each network of IPv6. Counts where all processes see it,
 * or else in the memory of this one. An address of `null` is one that cannot be determined.
 *
 * @param name - of what is counted; limits of one name share their counts
 */
export function addressLimit(
  shared: Pick<SharedRateLimits, 'consume' | 'peek'> | undefined,
  { name, limit }: { readonly name: string; readonly limit: number },
) {
  const counts = shared ?? fixedWindows();

  async function each(ask: 'consume' | 'peek', address: string | null, now: number): Promise<RateLimitState> {
    let state: RateLimitState = { allowed: true, count: 0, endsAt: now };
    for (const { name: network, times } of addressBuckets(address)) {
      const request = { bucket: `${name}:address:${network}`, limit: limit * times, windowMs, now };
      state = await counts[ask](request);
      // What a full network does further is not counted against its neighbours.
      if (!state.allowed) break;
    }
    return state;
  }

  return {
    /** Counts one event, unless there were as many as are allowed. */
    consume: (address: string | null, now: number) => each('consume', address, now),
    /** Whether one more would be allowed, without counting. */
    peek: (address: string | null, now: number) => each('peek', address, now),
  };
}
