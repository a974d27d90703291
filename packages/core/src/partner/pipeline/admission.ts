import { LRUCache } from 'lru-cache';
import { PartnerError } from '../../errors.ts';
import { secondsUntil } from '../../limits/fixed-windows.ts';
import type { LimitGroup, PartnerLimit } from '../../limits/request-limits.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import type {
  AskedWithCount,
  RateLimitState,
  RateLimitStore,
  SharedRateLimits,
} from '../../ports/rate-limits.ts';
import { addressMatcher } from '../../text/ip-address.ts';
import { goesOn } from '../../time/clock.ts';
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

/** A request of a key. */
interface Asking {
  readonly address: () => string | null;
  readonly now: number;
}

/** Windows that are remembered as full, at most. */
const maxFull = 10_000;

const nothing: AskedWithCount = { idempotencyKey: null, consent: null };

/** What a key may do, and how often; the one place that decides it, for routes and for the console. */
export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(keys: KeyCheck, { store, limits, per }: LimitOptions) {
  /**
   * Ends of windows in which a request was refused. Such a window never gets room again, so that further requests cost neither the
   * storage nor the host anything.
   */
  const full = new LRUCache<string, number>({ max: maxFull });

  function bucketOf({ quotaId, partner, mode }: ApiKeyState, group: LimitGroup): string {
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

  /** Where the store has the keys too, the count, whether the key lives and what is asked with it are one look. */
  async function count(found: FoundKey, group: LimitGroup, now: number, asked: AskedWithCount) {
    const { requests, windowSeconds } = limits[group];
    const bucket = bucketOf(found.key, group);
    const counting = { bucket, limit: requests, windowMs: windowSeconds * 1000, now };
    if ('consumeOfKey' in store) return await store.consumeOfKey(found.key.id, counting, asked);
    const counted = store.consume(counting);
    // Where the key has ended, its error is answered, and that of the count is not.
    counted.catch(() => undefined);
    await keys.confirm(found);
    return { ...(await counted), keyIsLive: true, earlier: undefined, holdsConsent: undefined };
  }

  /**
   * Checks what can be checked before a request is counted. That the key lives comes first, whatever else is wrong.
   * @throws PartnerError `invalid_api_key`, `ip_not_allowed`, `not_found`, `insufficient_scope`, `rate_limit_exceeded`
   */
  async function check(demands: Demands, found: FoundKey, { address, now }: Asking): Promise<void> {
    try {
      checkAddress(found.key, address);
      checkGrant(demands, found);
      const fullUntil = full.get(bucketOf(found.key, demands.limit));
      const windowMs = limits[demands.limit].windowSeconds * 1000;
      if (fullUntil !== undefined && goesOn(fullUntil, now, windowMs))
        throw refusal(demands.limit, fullUntil, now);
    } catch (error) {
      await keys.confirm(found);
      throw error;
    }
  }

  return {
    check,

    /**
     * Checks the request, and counts it.
     * @returns what is left, as headers of the answer, and what was asked, `undefined` where the count is no look at the storage
     * @throws PartnerError as `check`
     */
    async admit(demands: Demands, found: FoundKey, asking: Asking, asked = nothing) {
      await check(demands, found, asking);
      const { limit: group } = demands;
      const counted = await count(found, group, asking.now, asked);
      if (found.isCached && !counted.keyIsLive) throw keys.refuse(found);
      if (counted.allowed) return { ...counted, headers: headersOf(group, counted) };
      full.set(bucketOf(found.key, group), counted.endsAt);
      throw refusal(group, counted.endsAt, asking.now);
    },
  };
}
