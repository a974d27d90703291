import { addressMatcher } from '../../addresses.ts';
import { PartnerError } from '../../errors.ts';
import { secondsUntil } from '../../fixed-windows.ts';
import type { LimitGroup, PartnerLimit } from '../../limits.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import type { RateLimitStore, SharedRateLimits } from '../../ports/rate-limits.ts';
import type { PartnerRoute } from '../request.ts';
import type { FoundKey, KeyCheck } from './key.ts';

/** What a key has to be for a request, and what the request counts as. */
export type Demands = Pick<PartnerRoute, 'scope' | 'testOnly' | 'limit'>;

/** How requests are counted. */
export interface LimitOptions {
  readonly store: RateLimitStore | SharedRateLimits;
  readonly limits: { readonly [Group in LimitGroup]: PartnerLimit };
  readonly per: 'key' | 'partner';
}

const matchers = new WeakMap<readonly string[], (address: string) => boolean>();

/**
 * Checks that the caller's address is on the key's allowlist, if it has one.
 * @throws PartnerError `ip_not_allowed`, also when the address cannot be determined
 */
function checkAddress({ allowlist }: ApiKeyState, findAddress: () => string | null): void {
  if (allowlist === null) return;
  const matches = matchers.get(allowlist) ?? addressMatcher(allowlist);
  matchers.set(allowlist, matches);
  const address = findAddress();
  if (address === null || !matches(address)) throw new PartnerError('ip_not_allowed');
}

/** @throws PartnerError for a key that may not do this, whoever uses it */
export function checkGrant(
  { scope, testOnly }: Pick<Demands, 'scope' | 'testOnly'>,
  { key }: FoundKey,
): void {
  if (testOnly === true && key.mode !== 'test') {
    throw new PartnerError('not_found', {
      description: 'This endpoint belongs to the sandbox: it needs a test key, and this key is a live one.',
    });
  }
  if (scope === null || key.scopes.includes(scope)) return;
  throw new PartnerError('insufficient_scope', { description: `The API key lacks the scope ${scope}.` });
}

/** What a key may do, and how often; the one place that decides it, for routes and for the console. */
export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(keys: KeyCheck, { store, limits, per }: LimitOptions) {
  /** Counts the request; where the store has the keys too, that and whether the key lives are one look. */
  async function count(key: ApiKeyState, group: LimitGroup, now: number) {
    const { requests, windowSeconds } = limits[group];
    const owner = per === 'key' ? `key:${key.quotaId}` : `partner:${key.partner}:${key.mode}`;
    const counting = { bucket: `${group}:${owner}`, limit: requests, windowMs: windowSeconds * 1000, now };
    return 'consumeOfKey' in store
      ? await store.consumeOfKey(key.id, counting)
      : { ...(await store.consume(counting)), keyIsLive: null };
  }

  return {
    /**
     * Checks address, mode and scope, and counts the request. That the key lives comes first, whatever else is wrong: it is
     * asked for together with the count, or beside it where somebody else counts.
     * @returns what is left, as headers of the answer, and `rate_limit_exceeded` or `null`
     * @throws PartnerError `invalid_api_key`, `ip_not_allowed`, `not_found`, `insufficient_scope`
     */
    async admit(demands: Demands, found: FoundKey, address: () => string | null, now: number) {
      const { key } = found;
      try {
        checkAddress(key, address);
        checkGrant(demands, found);
      } catch (error) {
        await keys.confirm(found);
        throw error;
      }
      const counting = count(key, demands.limit, now);
      if (!('consumeOfKey' in store)) {
        // Where the key has ended, its error is answered, and that of the count is not.
        counting.catch(() => undefined);
        await keys.confirm(found);
      }
      const counted = await counting;
      if (found.isCached && counted.keyIsLive === false) throw keys.refuse(found);
      const { requests } = limits[demands.limit];
      const headers = {
        'X-RateLimit-Limit': String(requests),
        'X-RateLimit-Remaining': String(Math.max(0, requests - counted.count)),
        'X-RateLimit-Reset': String(Math.ceil(counted.endsAt / 1000)),
      };
      if (counted.allowed) return { headers, refusal: null };
      const retryAfter = { 'Retry-After': secondsUntil(counted.endsAt, now) };
      return { headers, refusal: new PartnerError('rate_limit_exceeded', { headers: retryAfter }) };
    },
  };
}
