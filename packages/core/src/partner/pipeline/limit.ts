import { PartnerError } from '../../errors.ts';
import type { HeaderFields } from '../../http/headers.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import type { RateLimitStore, SharedRateLimits } from '../../ports/rate-limits.ts';
import type { LimitGroup } from '../request.ts';

/** What is limited: the groups of the API, and the pages of a console. */
export type LimitName = LimitGroup | 'console';

/** A number of requests in a time in milliseconds. */
export interface Limit {
  readonly requests: number;
  readonly windowMs: number;
}

/** The limits of the specification; pages of a console keep themselves up to date, and have one of their own. */
export const defaultLimits: { readonly [Group in LimitName]: Limit } = {
  verify: { requests: 60, windowMs: 60_000 },
  payments: { requests: 120, windowMs: 60_000 },
  users: { requests: 300, windowMs: 60_000 },
  reconciliation: { requests: 10, windowMs: 3_600_000 },
  other: { requests: 200, windowMs: 60_000 },
  console: { requests: 600, windowMs: 60_000 },
};

/** How requests are counted. */
export interface LimitOptions {
  readonly store: RateLimitStore | SharedRateLimits;
  readonly limits: { readonly [Group in LimitName]: Limit };
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
  request: { readonly key: ApiKeyState; readonly group: LimitName; readonly now: number },
): Promise<CountedRequest> {
  const { key, group, now } = request;
  const { requests, windowMs } = limits[group];
  const owner = per === 'key' ? `key:${key.quotaId}` : `partner:${key.partner}:${key.mode}`;
  const counting = { bucket: `${group}:${owner}`, limit: requests, windowMs, now };
  const { allowed, count, endsAt, keyIsLive } = knowsKeys(store)
    ? await store.consumeOfKey(key.id, counting)
    : { ...(await store.consume(counting)), keyIsLive: null };
  const headers = {
    'X-RateLimit-Limit': String(requests),
    'X-RateLimit-Remaining': String(Math.max(0, requests - count)),
    'X-RateLimit-Reset': String(Math.ceil(endsAt / 1000)),
  };
  if (allowed) return { headers, refusal: null, keyIsLive };
  const retryAfter = { 'Retry-After': String(Math.max(1, Math.ceil((endsAt - now) / 1000))) };
  const refusal = new PartnerError('rate_limit_exceeded', { headers: retryAfter });
  return { headers, refusal, keyIsLive };
}
