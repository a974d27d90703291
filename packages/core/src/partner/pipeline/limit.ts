import { PartnerError } from '../../errors.ts';
import { secondsUntil } from '../../fixed-windows.ts';
import type { HeaderFields } from '../../http/headers.ts';
import type { LimitGroup, PartnerLimit } from '../../limits.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import type { RateLimitStore, SharedRateLimits } from '../../ports/rate-limits.ts';

/** How requests are counted. */
export interface LimitOptions {
  readonly store: RateLimitStore | SharedRateLimits;
  readonly limits: { readonly [Group in LimitGroup]: PartnerLimit };
  readonly per: 'key' | 'partner';
}

/** A request that the limiter has seen. */
export interface CountedRequest {
  /** What is left, for the answer. */
  readonly headers: HeaderFields;
  /** `rate_limit_exceeded`, or `null`. */
  readonly refusal: PartnerError | null;
  /** What a store that {@link knowsKeys} said of the key; `null` from others. */
  readonly keyIsLive: boolean | null;
}

/** Whether the store that counts has the keys too, so that both are one look. */
export function knowsKeys(store: RateLimitStore | SharedRateLimits): store is SharedRateLimits {
  return 'consumeOfKey' in store;
}

/** Counts the request, and says in the headers of the answer what is left. */
export async function countRequest(
  { store, limits, per }: LimitOptions,
  request: { readonly key: ApiKeyState; readonly group: LimitGroup; readonly now: number },
): Promise<CountedRequest> {
  const { key, group, now } = request;
  const { requests, windowSeconds } = limits[group];
  const owner = per === 'key' ? `key:${key.quotaId}` : `partner:${key.partner}:${key.mode}`;
  const counting = { bucket: `${group}:${owner}`, limit: requests, windowMs: windowSeconds * 1000, now };
  const { allowed, count, endsAt, keyIsLive } = knowsKeys(store)
    ? await store.consumeOfKey(key.id, counting)
    : { ...(await store.consume(counting)), keyIsLive: null };
  const headers = {
    'X-RateLimit-Limit': String(requests),
    'X-RateLimit-Remaining': String(Math.max(0, requests - count)),
    'X-RateLimit-Reset': String(Math.ceil(endsAt / 1000)),
  };
  if (allowed) return { headers, refusal: null, keyIsLive };
  const retryAfter = { 'Retry-After': secondsUntil(endsAt, now) };
  const refusal = new PartnerError('rate_limit_exceeded', { headers: retryAfter });
  return { headers, refusal, keyIsLive };
}
