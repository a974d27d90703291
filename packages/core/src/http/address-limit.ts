import { addressBuckets } from '../addresses.ts';
import { OAuthError } from '../errors.ts';
import { fixedWindows, secondsUntil } from '../fixed-windows.ts';
import type { RateLimitState, RateLimitStore, SharedRateLimits } from '../ports/rate-limits.ts';

type CountedRequest = Parameters<RateLimitStore['consume']>[0];

/** @throws OAuthError `slow_down` that says when to come again, unless one more is allowed */
export function requireAllowed({ allowed, endsAt }: RateLimitState, now: number, description: string): void {
  if (allowed) return;
  throw new OAuthError('slow_down', description, { headers: { 'Retry-After': secondsUntil(endsAt, now) } });
}

const windowMs = 60_000;

/** A limit on what client addresses do. */
export type AddressLimit = ReturnType<typeof addressLimit>;

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

  /** Of an address and the networks around it. */
  const requestsOf = (address: string | null, now: number): CountedRequest[] =>
    addressBuckets(address).map(({ name: network, times }) => ({
      bucket: `${name}:address:${network}`,
      limit: limit * times,
      windowMs,
      now,
    }));

  return {
    /** Counts one event, unless there were as many as are allowed. */
    async consume(address: string | null, now: number): Promise<RateLimitState> {
      let state: RateLimitState = { allowed: true, count: 0, endsAt: now };
      for (const request of requestsOf(address, now)) {
        state = await counts.consume(request);
        // What a full network does further is not counted against its neighbours.
        if (!state.allowed) break;
      }
      return state;
    },
    /**
     * Whether one more would be allowed, without counting.
     * @param look - asks for it, where something else is asked for with it
     */
    async peek(
      address: string | null,
      now: number,
      look: (requests: readonly CountedRequest[]) => Promise<readonly RateLimitState[]> = counts.peek,
    ): Promise<RateLimitState> {
      const states = await look(requestsOf(address, now));
      return states.find(({ allowed }) => !allowed) ?? { allowed: true, count: 0, endsAt: now };
    },
  };
}
