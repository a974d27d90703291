import type { AddressCounts, RateLimitState } from '../ports/rate-limits.ts';
import { withDeadlines } from '../time/deadline.ts';

/**
 * Result of a rate-limiter-flexible limiter, which the library returns or, if the limit is exceeded, throws.
 */
interface FlexibleLimiterResult {
  readonly consumedPoints: number;
  readonly msBeforeNext: number;
}

/**
 * Methods of a limiter of rate-limiter-flexible that this adapter calls; the limiter may use any of the
 * library's stores.
 */
export interface FlexibleLimiter {
  consume(key: string, points?: number): Promise<FlexibleLimiterResult>;
  /** Reads how many points of a key are consumed; `null` if none are. */
  get(key: string): Promise<FlexibleLimiterResult | null>;
}

function isResult(thrown: unknown): thrown is FlexibleLimiterResult {
  return (
    typeof thrown === 'object' && thrown !== null && 'msBeforeNext' in thrown && 'consumedPoints' in thrown
  );
}

/**
 * Longest wait for the store of counts, in seconds; after that the request gets a 503. Redis clients wait much
 * longer for an unreachable server, some without end.
 */
const deadlineSeconds = 1.5;

function stateOf(
  { consumedPoints, msBeforeNext }: FlexibleLimiterResult,
  limit: number,
  now: number,
  allowed: boolean,
): RateLimitState {
  // The library counts refused requests too, so cap the count at the limit.
  return { allowed, count: Math.min(consumedPoints, limit), endsAt: now + msBeforeNext };
}

const unreachable = (cause: unknown) =>
  Object.assign(new Error('the store of the rate limits cannot be reached', { cause }), {
    code: 'STORAGE_UNAVAILABLE',
  });

/**
 * Counts requests with the library rate-limiter-flexible, in Redis, Valkey or any other store that it
 * supports, so that many processes share their counts. Use the result for the options `limits.store` and
 * `partnerLimits.store`; one result can serve both. If the store fails, or does not respond within 1.5
 * seconds, requests get a 503.
 * @param create - returns a limiter that allows `points` requests per `duration` seconds; called once for each limit
 * @example
 * ```ts
 * const store = rateLimiterFlexible(
 *   (points, duration) => new RateLimiterRedis({ storeClient: redis, points, duration }),
 * );
 * ```
 */
export function rateLimiterFlexible(
  create: (points: number, durationSeconds: number) => FlexibleLimiter,
): AddressCounts {
  const limiters = new Map<string, FlexibleLimiter>();

  function limiterOf(limit: number, windowMs: number): FlexibleLimiter {
    const name = `${limit}/${windowMs}`;
    const limiter =
      limiters.get(name) ??
      withDeadlines('limiter', create(limit, windowMs / 1000), ['consume', 'get'], deadlineSeconds);
    limiters.set(name, limiter);
    return limiter;
  }

  return {
    async consume({ bucket, limit, windowMs, now }) {
      try {
        return stateOf(await limiterOf(limit, windowMs).consume(bucket), limit, now, true);
      } catch (thrown) {
        if (isResult(thrown)) return stateOf(thrown, limit, now, false);
        throw unreachable(thrown);
      }
    },
    async peek(requests) {
      const peekOne = async ({ bucket, limit, windowMs, now }: (typeof requests)[number]) => {
        const found = await limiterOf(limit, windowMs).get(bucket);
        return found === null
          ? { allowed: true, count: 0, endsAt: now + windowMs }
          : stateOf(found, limit, now, found.consumedPoints < limit);
      };
      return Promise.all(requests.map(peekOne)).catch((thrown) => {
        throw unreachable(thrown);
      });
    },
  };
}
