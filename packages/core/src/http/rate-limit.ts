import type { RateLimitState, SharedRateLimits } from '../ports/rate-limits.ts';
import { addressBuckets } from './client-address.ts';

/** The state of one window after a request was looked at. */
export interface Window {
  readonly count: number;
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** Counts in fixed windows, each beginning with its first counted event, in the memory of this process. */
export interface FixedWindows {
  /** Counts one event and answers the window with it. */
  add(key: string, now: number): Window;
  /** The window as it is, without counting. */
  read(key: string, now: number): Window;
}

/** Keys that are counted at once at most; beyond that the windows that end first are forgotten. */
const maxKeys = 100_000;

/** @param windowMs - length of a window in milliseconds */
export function fixedWindows(windowMs: number): FixedWindows {
  // Windows are all of one length, so that insertion order is the order in which they end.
  const windows = new Map<string, { count: number; endsAt: number }>();

  const live = (key: string, now: number) => {
    const window = windows.get(key);
    return window !== undefined && window.endsAt > now ? window : undefined;
  };

  return {
    add(key, now) {
      const current = live(key, now);
      if (current !== undefined) {
        current.count += 1;
        return current;
      }
      windows.delete(key);
      for (const [oldest, window] of windows) {
        if (window.endsAt > now && windows.size < maxKeys) break;
        windows.delete(oldest);
      }
      const window = { count: 1, endsAt: now + windowMs };
      windows.set(key, window);
      return window;
    },
    read: (key, now) => live(key, now) ?? { count: 0, endsAt: now + windowMs },
  };
}

/** Limits what each client address does in a minute, and more widely each network of IPv6. */
export interface AddressLimit {
  /**
   * Counts one event, unless there were as many as are allowed.
   * @param address - `null` for one that cannot be determined
   */
  consume(address: string | null, now: number): Promise<RateLimitState>;
  /** Whether one more would be allowed, without counting. */
  peek(address: string | null, now: number): Promise<RateLimitState>;
}

/** What address limits need of a storage. */
type Counts = Pick<SharedRateLimits, 'consume' | 'peek'>;

/**
 * Counts where all processes see it, or else in the memory of this one.
 *
 * @param name - of what is counted; limits of one name share their counts
 */
export function addressLimit(
  shared: Counts | undefined,
  { name, limit }: { readonly name: string; readonly limit: number },
): AddressLimit {
  const windowMs = 60_000;
  const counts = shared ?? countsInMemory(windowMs);

  async function each(ask: 'consume' | 'peek', address: string | null, now: number): Promise<RateLimitState> {
    const [own, ...wider] = addressBuckets(address).map((bucket) => ({
      bucket: `${name}:address:${bucket.name}`,
      limit: limit * bucket.times,
      windowMs,
      now,
    }));
    if (own === undefined) throw new Error('an address has no bucket');
    let state = await counts[ask](own);
    for (const request of wider) {
      // One after the other: what a full network does further is not counted against its neighbours.
      if (!state.allowed) break;
      state = await counts[ask](request);
    }
    return state;
  }

  return {
    consume: (address, now) => each('consume', address, now),
    peek: (address, now) => each('peek', address, now),
  };
}

function countsInMemory(windowMs: number): Counts {
  const windows = fixedWindows(windowMs);
  const stateOf = ({ count, endsAt }: Window, allowed: boolean) => ({ allowed, count, endsAt });
  return {
    async consume({ bucket, limit, now }) {
      const window = windows.read(bucket, now);
      return window.count < limit ? stateOf(windows.add(bucket, now), true) : stateOf(window, false);
    },
    async peek({ bucket, limit, now }) {
      const window = windows.read(bucket, now);
      return stateOf(window, window.count < limit);
    },
  };
}

/** Seconds until a window ends, as `Retry-After` says them. */
export function secondsUntil(endsAt: number, now: number): string {
  return String(Math.max(1, Math.ceil((endsAt - now) / 1000)));
}
