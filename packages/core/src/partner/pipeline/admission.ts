import { PartnerError } from '../../errors.ts';
import type { PartnerRoute } from '../request.ts';
import { checkAddress } from './address.ts';
import type { FoundKey, KeyCheck } from './key.ts';
import { type CountedRequest, countRequest, knowsKeys, type LimitOptions } from './limit.ts';
import { checkScope } from './scope.ts';

/** What a key has to be for a request, and what the request counts as. */
export type Demands = Pick<PartnerRoute, 'scope' | 'testOnly' | 'limit'>;

/** What a key may do, and how often; the one place that decides it, for routes and for the console. */
export interface Admission {
  /**
   * Checks address, mode and scope, and counts the request. That the key lives comes first, whatever else is wrong: it is
   * asked for together with the count, or beside it where somebody else counts.
   * @throws PartnerError `invalid_api_key`, `ip_not_allowed`, `not_found`, `insufficient_scope`; that there were too many is
   * part of the answer
   */
  admit(
    demands: Demands,
    found: FoundKey,
    address: () => string | null,
    now: number,
  ): Promise<CountedRequest>;
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
  checkScope(key, scope);
}

/** See {@link Admission}. */
export function createAdmission(keys: KeyCheck, limits: LimitOptions): Admission {
  return {
    async admit(demands, found, address, now) {
      const { key } = found;
      try {
        checkAddress(key, address);
        checkGrant(demands, found);
      } catch (error) {
        await keys.confirm(found);
        throw error;
      }
      const counting = countRequest(limits, { key, group: demands.limit, now });
      if (!knowsKeys(limits.store)) {
        // Where the key has ended, its error is answered, and that of the count is not.
        counting.catch(() => undefined);
        await keys.confirm(found);
      }
      const counted = await counting;
      if (found.isCached && counted.keyIsLive === false) throw keys.refuse(found);
      return counted;
    },
  };
}
