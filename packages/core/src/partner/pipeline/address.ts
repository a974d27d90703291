import { PartnerError } from '../../errors.ts';
import { addressMatcher } from '../../http/client-address.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';

const matchers = new WeakMap<readonly string[], (address: string) => boolean>();

/**
 * Checks that the caller's address is on the key's allowlist, if it has one.
 * @throws PartnerError `ip_not_allowed`, also when the address cannot be determined
 */
export function checkAddress({ allowlist }: ApiKeyState, findAddress: () => string | null): void {
  if (allowlist === null) return;
  const address = findAddress();
  let matches = matchers.get(allowlist);
  if (matches === undefined) {
    matches = addressMatcher(allowlist);
    matchers.set(allowlist, matches);
  }
  if (address === null || !matches(address)) throw new PartnerError('ip_not_allowed');
}
