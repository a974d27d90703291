import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';

/** Some proxies write the port behind the address, `192.0.2.1:4711` or `[2001:db8::1]:4711` (RFC 7239, 6). */
const withPort = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]+))(?::\d{1,5})?$/;

/** Unmaps `::ffff:192.0.2.1`: an IPv4 client is the same one on a dual-stack socket. `null` for what is no address. */
function normalise(given: string): string | null {
  const { v6, v4 } = withPort.exec(given.trim())?.groups ?? {};
  const plain = (v6 ?? v4 ?? given.trim()).replace(/%.*$/, '');
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(plain)?.[1];
  const result = mapped ?? plain;
  return isIP(result) === 0 ? null : result.toLowerCase();
}

/** Tells whether an address is a trusted proxy's. */
export function trustedBy(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [address = '', bits = ''] = range.split('/');
    trusted.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return (given) => {
    const address = normalise(given);
    return address !== null && trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  };
}

/** Tells who sent a request, believing nobody but the trusted proxies. */
export function clientAddress(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string | null {
  const isTrusted = trustedBy(trustedProxies);

  return ({ socket, headers }) => {
    let address = normalise(socket.remoteAddress ?? '');
    // Every proxy appends the address it saw, so the way back is from the right, and ends at the first stranger.
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    while (address !== null && isTrusted(address)) {
      const hop = hops.pop();
      if (hop === undefined || hop.trim() === '') break;
      address = normalise(hop);
    }
    return address;
  };
}

function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
}

/**
 * The network of an address: an IPv4 address itself, or the /64 of an IPv6 address, which one subscriber has. A `/48` is what
 * whoever asks for more than that gets for nothing.
 */
export function networkOf(address: string | null, bits: 48 | 64 = 64): string {
  if (address === null) return 'unknown';
  if (isIPv4(address)) return address;
  const groups = groupsOf(address)
    .slice(0, bits / 16)
    .map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.join(':')}::/${bits}`;
}
