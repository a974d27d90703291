import { PartnerError } from '../../errors.ts';
import type { HeaderFields } from '../../http/headers.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import type { RateLimitStore } from '../../ports/rate-limits.ts';
import type { LimitGroup } from '../request.ts';

/** A number of requests in a time in milliseconds. */
export interface Limit {
  readonly requests: number;
  readonly windowMs: number;
}

/** The limits of the specification. */
export const defaultLimits: { readonly [Group in LimitGroup]: Limit } = {
  verify: { requests: 60, windowMs: 60_000 },
  payments: { requests: 120, windowMs: 60_000 },
  users: { requests: 300, windowMs: 60_000 },
  reconciliation: { requests: 10, windowMs: 3_600_000 },
  other: { requests: 200, windowMs: 60_000 },
};

/** How requests are counted. */
export interface LimitOptions {
  readonly store: RateLimitStore;
  readonly limits: { readonly [Group in LimitGroup]: Limit };
  readonly per: 'key' | 'partner';
}

/**
 * Counts the request, and says in the headers of the answer what is left.
 * @throws PartnerError `rate_limit_exceeded`
 */
export async function countRequest(
  { store, limits, per }: LimitOptions,
  headers: HeaderFields,
  request: { readonly key: ApiKeyState; readonly group: LimitGroup; readonly now: number },
): Promise<void> {
  const { key, group, now } = request;
  const { requests, windowMs } = limits[group];
  const owner = per === 'key' ? `key:${key.quotaId}` : `partner:${key.partner}:${key.mode}`;
  const { allowed, count, endsAt } = await store.consume({
    bucket: `${group}:${owner}`,
    limit: requests,
    windowMs,
    now,
  });
  headers['X-RateLimit-Limit'] = String(requests);
  headers['X-RateLimit-Remaining'] = String(Math.max(0, requests - count));
  headers['X-RateLimit-Reset'] = String(Math.ceil(endsAt / 1000));
  if (allowed) return;
  throw new PartnerError('rate_limit_exceeded', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil((endsAt - now) / 1000))) },
  });
}
