import { LRUCache } from 'lru-cache';
import { PartnerError } from '../../errors.ts';
import type { HeaderFields } from '../../http/headers.ts';
import { secondsUntil } from '../../limits/fixed-windows.ts';
import type { LimitGroup, PartnerLimit } from '../../limits/request-limits.ts';
import type { RateLimitState, RateLimitStore } from '../../ports/rate-limits.ts';
import { goesOn } from '../../time/clock.ts';
import type { Caller } from './caller.ts';

/** Settings of the rate limits of the partner API. */
export interface LimitOptions {
  readonly store: RateLimitStore;
  readonly limits: { readonly [Group in LimitGroup]: PartnerLimit };
  readonly per: 'key' | 'partner';
}

/** Maximum number of full rate limit windows in memory. Requests in others query the store. */
const maxFull = 10_000;

/** Pipeline step that limits the number of requests of an API key, live portal session or partner. */
export function createLimiter({ store, limits, per }: LimitOptions) {
  /**
   * Ends of rate limit windows in which a request was refused, by bucket. A full window stays full, so
   * further requests need not query the store.
   */
  const full = new LRUCache<string, number>({ max: maxFull });

  function bucketOf({ quotaId, partner, mode }: Caller, group: LimitGroup): string {
    return `${group}:${per === 'key' ? `key:${quotaId}` : `partner:${partner}:${mode}`}`;
  }

  function headersOf(group: LimitGroup, { count, endsAt }: Pick<RateLimitState, 'count' | 'endsAt'>) {
    const { requests } = limits[group];
    return {
      'X-RateLimit-Limit': String(requests),
      'X-RateLimit-Remaining': String(Math.max(0, requests - count)),
      'X-RateLimit-Reset': String(Math.ceil(endsAt / 1000)),
    };
  }

  function refusal(group: LimitGroup, endsAt: number, now: number): PartnerError {
    const headers = headersOf(group, { count: limits[group].requests, endsAt });
    return new PartnerError('rate_limit_exceeded', {
      headers: { ...headers, 'Retry-After': secondsUntil(endsAt, now) },
    });
  }

  /**
   * Refuses a request whose rate limit window is known to be full, without counting it.
   * @throws PartnerError `rate_limit_exceeded`
   */
  function refuseFull(key: Caller, group: LimitGroup, now: number): void {
    const endsAt = full.get(bucketOf(key, group));
    const windowMs = limits[group].windowSeconds * 1000;
    if (endsAt !== undefined && goesOn(endsAt, now, windowMs)) throw refusal(group, endsAt, now);
  }

  return {
    refuseFull,

    /**
     * Counts a request in its rate limit window.
     * @returns response headers with the limit and the number of requests left
     * @throws PartnerError `rate_limit_exceeded`; a refused request is not counted
     */
    async count(key: Caller, group: LimitGroup, now: number): Promise<HeaderFields> {
      refuseFull(key, group, now);
      const { requests, windowSeconds } = limits[group];
      const bucket = bucketOf(key, group);
      const windowMs = windowSeconds * 1000;
      const counted = await store.consume({ bucket, limit: requests, windowMs, now });
      if (counted.allowed) return headersOf(group, counted);
      full.set(bucket, counted.endsAt);
      throw refusal(group, counted.endsAt, now);
    },
  };
}
