import type { AddressCounts, RateLimitState } from '../ports/rate-limits.ts';
import { goesOn } from '../time/clock.ts';

/** Windows that are counted at once at most; beyond that those that began first are forgotten. */
const maxWindows = 100_000;

/**
 * Counts in the memory of this process. Check and count are one step, so that no request comes between them.
 */
export function fixedWindows(): AddressCounts {
  const windows = new Map<string, { count: number; readonly endsAt: number }>();

  /** Returns the window of a bucket unless it is over. */
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

/** Seconds until a window ends, as `Retry-After` says them. */
export function secondsUntil(endsAt: number, now: number): string {
  return String(Math.max(1, Math.ceil((endsAt - now) / 1000)));
}
