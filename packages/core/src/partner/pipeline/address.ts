import { PartnerError } from '../../errors.ts';
import { addressMatcher, isAddressRange } from '../../text/ip-address.ts';
import type { Caller } from './caller.ts';

/** Compiled IP allowlists, by the list in an API key as it was read. */
const matchers = new WeakMap<readonly string[], (address: string) => boolean>();

/**
 * Checks that the client's IP address is on the API key's allowlist, if the key has an allowlist.
 * @throws PartnerError `ip_not_allowed`, also if the client's address cannot be determined
 */
export function checkAddress({ allowlist }: Caller, findAddress: () => string | null): void {
  if (allowlist === null) return;
  const matches = matchers.get(allowlist) ?? addressMatcher(allowlist.filter(isAddressRange));
  matchers.set(allowlist, matches);
  const address = findAddress();
  if (address === null || !matches(address)) throw new PartnerError('ip_not_allowed');
}
