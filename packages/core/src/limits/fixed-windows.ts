import type { AddressCounts, RateLimitState } from '../ports/rate-limits.ts';
import { goesOn } from '../time/clock.ts';

/** Maximum number of rate limit windows in memory. If there are more, the oldest windows are discarded. */
const maxWindows = 100_000;

/**
 * Counts requests in rate limit windows in the memory of this process. Checks and counts in one step, so that
 * no other request comes between.
 */
export function fixedWindows(): AddressCounts {
  const windows = new Map<string, { count: number; readonly endsAt: number }>();

  /** Returns the current rate limit window of a bucket, unless it has ended. */
  function current({ bucket, now, windowMs }: Parameters<AddressCounts['consume']>[0]) {
    const window = windows.get(bucket);
    return window !== undefined && goesOn(window.endsAt, now, windowMs) ? window : null;
  }

  function begin(bucket: string, endsAt: number): RateLimitState {
    windows.delete(bucket);
    const [oldest] = windows.keys();
    if (oldest !== undefined && windows.size >= maxWindows) windows.delete(oldest);
    const window = { count: 1, endsAt };
    windows.set(bucket, window);
    return { allowed: true, ...window };
  }

  return {
    async consume(request) {
      const window = current(request);
      if (window === null) return begin(request.bucket, request.now + request.windowMs);
      if (window.count >= request.limit) return { allowed: false, ...window };
      window.count += 1;
      return { allowed: true, ...window };
    },
    async peek(requests) {
      return requests.map((request) => {
        const { count, endsAt } = current(request) ?? { count: 0, endsAt: request.now + request.windowMs };
        return { allowed: count < request.limit, count, endsAt };
      });
    },
  };
}

/** Returns the whole seconds until a window ends, at least 1, for the header `Retry-After`. */
export function secondsUntil(endsAt: number, now: number): string {
  return String(Math.max(1, Math.ceil((endsAt - now) / 1000)));
}
