import type { RateLimitStore } from '../ports/rate-limits.ts';

/** What a limiter of rate-limiter-flexible answers, and throws when the limit is exceeded. */
export interface FlexibleLimiterResult {
  readonly consumedPoints: number;
  readonly msBeforeNext: number;
}

/** A limiter of rate-limiter-flexible, whatever it keeps its counts in. */
export interface FlexibleLimiter {
  consume(key: string, points?: number): Promise<FlexibleLimiterResult>;
}

function isResult(thrown: unknown): thrown is FlexibleLimiterResult {
  return (
    typeof thrown === 'object' && thrown !== null && 'msBeforeNext' in thrown && 'consumedPoints' in thrown
  );
}

/**
 * Counts requests of partners with the library rate-limiter-flexible, in Redis, Valkey or whatever it
 * supports, so that many processes share their counts. For the option `partnerLimits.store`. A store that
 * cannot be reached is answered with 503.
 * @param create - makes a limiter that allows so many points in so many seconds; called once for each limit
 * @example
 * ```ts
 * const store = rateLimiterFlexible(
 *   (points, duration) => new RateLimiterRedis({ storeClient: redis, points, duration }),
 * );
 * ```
 */
export function rateLimiterFlexible(
  create: (points: number, durationSeconds: number) => FlexibleLimiter,
): RateLimitStore {
  const limiters = new Map<string, FlexibleLimiter>();

  function limiterOf(limit: number, windowMs: number): FlexibleLimiter {
    const name = `${limit}/${windowMs}`;
    const limiter = limiters.get(name) ?? create(limit, windowMs / 1000);
    limiters.set(name, limiter);
    return limiter;
  }

  return {
    async consume({ bucket, limit, windowMs, now }) {
      const state = ({ consumedPoints, msBeforeNext }: FlexibleLimiterResult, allowed: boolean) => ({
        allowed,
        // The library goes on counting what it refuses.
        count: Math.min(consumedPoints, limit),
        endsAt: now + msBeforeNext,
      });
      try {
        return state(await limiterOf(limit, windowMs).consume(bucket), true);
      } catch (thrown) {
        if (isResult(thrown)) return state(thrown, false);
        throw Object.assign(new Error('the store of the rate limits cannot be reached', { cause: thrown }), {
          code: 'STORAGE_UNAVAILABLE',
        });
      }
    },
  };
}
