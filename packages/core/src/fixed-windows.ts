import type { RateLimitState, SharedRateLimits } from './ports/rate-limits.ts';

/** Windows of one length that are counted at once at most; beyond that those that end first are forgotten. */
const maxWindows = 100_000;

/**
 * Counts in fixed windows in the memory of this process. A look and its count are one step, so that no request comes between
 * them.
 */
export function fixedWindows(): Pick<SharedRateLimits, 'consume' | 'peek'> {
  // By length: windows of one length end in the order in which they began.
  const byLength = new Map<number, Map<string, { count: number; readonly endsAt: number }>>();

  function windowsOf(windowMs: number) {
    const windows = byLength.get(windowMs) ?? new Map();
    byLength.set(windowMs, windows);
    return windows as Map<string, { count: number; readonly endsAt: number }>;
  }

  type Request = Parameters<SharedRateLimits['peek']>[0];

  function current({ bucket, windowMs, now }: Request) {
    const window = windowsOf(windowMs).get(bucket);
    return window !== undefined && window.endsAt > now ? window : null;
  }

  function begin({ bucket, windowMs, now }: Request): RateLimitState {
    const windows = windowsOf(windowMs);
    windows.delete(bucket);
    for (const [oldest, { endsAt }] of windows) {
      if (endsAt > now && windows.size < maxWindows) break;
      windows.delete(oldest);
    }
    const window = { count: 1, endsAt: now + windowMs };
    windows.set(bucket, window);
    return { allowed: true, ...window };
  }

  return {
    async consume(request) {
      const window = current(request);
      if (window === null) return begin(request);
      if (window.count >= request.limit) return { allowed: false, ...window };
      window.count += 1;
      return { allowed: true, ...window };
    },
    async peek(request) {
      const { count, endsAt } = current(request) ?? { count: 0, endsAt: request.now + request.windowMs };
      return { allowed: count < request.limit, count, endsAt };
    },
  };
}

/** Seconds until a window ends, as `Retry-After` says them. */
export function secondsUntil(endsAt: number, now: number): string {
  return String(Math.max(1, Math.ceil((endsAt - now) / 1000)));
}
