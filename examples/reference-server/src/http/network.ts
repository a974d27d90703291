import { isIPv4 } from 'node:net';

function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
}

/**
 * Returns the network of an IP address: an IPv4 address itself, or by default the /64 of an IPv6 address,
 * which is what one subscriber has; `unknown` for `null`. Subscribers can get a /48 for free, hence `bits`.
 */
export function networkOf(address: string | null, bits: 48 | 64 = 64): string {
  if (address === null) return 'unknown';
  if (isIPv4(address)) return address;
  const groups = groupsOf(address)
    .slice(0, bits / 16)
    .map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.join(':')}::/${bits}`;
}
