import { BlockList, isIP } from 'node:net';

/**
 * Returns an IP address in canonical spelling, and an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) as IPv4.
 * `null` for other text.
 */
export function unmapped(address: string): string | null {
  const bare = address.startsWith('[') && address.endsWith(']') ? address.slice(1, -1) : address;
  const family = isIP(bare);
  if (family === 0 || bare.includes('%')) return null;
  if (family === 4) return bare;
  // The URL parser writes every IPv6 address in one canonical way; `isIP` accepts many spellings.
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped === null) return canonical;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Returns a function that checks whether an address is in one of the ranges. @throws TypeError that starts with the path of a malformed range */
export function rangeMatcher(ranges: Iterable<readonly [number, string]>, pathOf: (index: number) => string) {
  const list = new BlockList();
  for (const [index, range] of ranges) {
    const [text = '', prefix, ...rest] = range.split('/');
    const address = unmapped(text);
    if (address === null || rest.length > 0)
      throw new TypeError(`${pathOf(index)}: ${range} is not an IP address or a CIDR range`);
    const bits = isIP(address) === 4 ? 32 : 128;
    const length = prefix ?? String(bits);
    if (!/^\d{1,3}$/.test(length) || Number(length) > bits)
      throw new TypeError(`${pathOf(index)}: ${range} has no valid prefix length`);
    list.addSubnet(address, Number(length), familyOf(address));
  }
  return (address: string): boolean => list.check(address, familyOf(address));
}

/** Checks whether a text is an IP address or a CIDR range. */
export function isAddressRange(text: string): boolean {
  try {
    addressMatcher([text]);
    return true;
  } catch {
    return false;
  }
}

/** Returns a function that checks whether an address is in one of the ranges. @throws TypeError if a range is malformed */
export function addressMatcher(ranges: readonly string[]): (address: string) => boolean {
  return rangeMatcher(ranges.entries(), () => 'allowlist');
}
