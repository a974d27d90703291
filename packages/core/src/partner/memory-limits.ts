import type { RateLimitStore } from '../ports/rate-limits.ts';

/** Windows that are counted at once at most; beyond that those that end first are forgotten. */
const maxBuckets = 100_000;

/**
 * Counts in the memory of this process. A look and its count are one step, so that no request overtakes
 * another.
 */
export function memoryLimits(): RateLimitStore {
  const windows = new Map<string, { count: number; endsAt: number }>();

  function purge(now: number): void {
    for (const [bucket, window] of windows) {
      if (window.endsAt > now && windows.size < maxBuckets) continue;
      windows.delete(bucket);
    }
  }

  return {
    async consume({ bucket, limit, windowMs, now }) {
      const current = windows.get(bucket);
      if (current !== undefined && current.endsAt > now) {
        if (current.count >= limit) return { allowed: false, ...current };
        current.count += 1;
        return { allowed: true, ...current };
      }
      if (windows.size >= maxBuckets) purge(now);
      const window = { count: 1, endsAt: now + windowMs };
      windows.delete(bucket);
      windows.set(bucket, window);
      return { allowed: true, ...window };
    },
  };
}
