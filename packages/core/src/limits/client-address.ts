import { isIP, Server } from 'node:net';
import { rangeMatcher, unmapped } from '../text/ip-address.ts';

/** Parts of a request from which the client's IP address is determined. Node's requests have these parts. */
export interface AddressedRequest {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

/** Returns an entry of `X-Forwarded-For` without the port that some proxies append: `203.0.113.7:41234`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  return /^([\d.]+|\[.*\]):\d{1,5}$/.exec(hop)?.[1] ?? hop;
}

/**
 * Checks whether a request came over a Unix socket. Uses the server's end of the connection: a TCP connection
 * loses the client's address when the client resets it, and must not be mistaken for a trusted proxy then.
 */
function isUnixPeer(socket: AddressedRequest['socket']): boolean {
  if (socket.remoteAddress !== undefined) return false;
  const server: unknown = Reflect.get(socket, 'server');
  return server instanceof Server && typeof server.address() === 'string';
}

/**
 * Returns a function that finds a client's IP address. This is the socket's address, unless a trusted proxy
 * connected: then it is the right-most entry of `X-Forwarded-For`, with or without a port, that is not a
 * trusted proxy, or the left-most entry if all are. Entries further left are written by the caller and never
 * trusted. IPv4-mapped addresses are returned as IPv4. Returns `null` if no address can be determined.
 * @param trustedProxies - IP addresses, CIDR ranges, and `unix` for every peer on a Unix socket
 * @param onUntrustedUnixPeer - called for each request over a Unix socket if `unix` is not trusted, because such a request has no address
 * @throws TypeError if an address or range is malformed
 */
export function clientAddressFinder(
  trustedProxies: readonly string[],
  onUntrustedUnixPeer: () => void = () => undefined,
): (request: AddressedRequest) => string | null {
  const trustsUnix = trustedProxies.includes('unix');
  const ranges = [...trustedProxies.entries()].filter(([, range]) => range !== 'unix');
  const isTrusted = rangeMatcher(ranges, (index) => `createOstiary: trustedProxies.${index}`);

  return (request) => {
    const isUnix = isUnixPeer(request.socket);
    if (isUnix && !trustsUnix) onUntrustedUnixPeer();
    let address = unmapped(request.socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || (address === null && !(isUnix && trustsUnix))) return address;
    const forwarded = (request.headers['x-forwarded-for'] ?? '').toString();
    const hops = forwarded === '' ? [] : forwarded.split(',');
    if (address === null) address = unmapped(withoutPort((hops.pop() ?? '').trim()));
    while (address !== null && isTrusted(address)) {
      const hop = hops.pop();
      if (hop === undefined) break;
      address = unmapped(withoutPort(hop.trim()));
    }
    return address;
  };
}

/**
 * Returns the rate limit buckets of a client, the narrowest first: its address or, for IPv6, its /64, /56 and
 * /48 networks, since one client can have many addresses of a network. `times` is the factor by which a
 * bucket's limit exceeds the limit of one address.
 */
export function addressBuckets(address: string | null) {
  if (address === null || isIP(address) !== 6) return [{ name: address ?? 'unknown', times: 1 }];
  const [before = [], after = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array(8 - before.length - after.length).fill('0');
  const [a, b, c, d = '0'] = [...before, ...zeros, ...after];
  const upperHalf = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [
    { name: `${a}:${b}:${c}:${d}::/64`, times: 1 },
    { name: `${a}:${b}:${c}:${upperHalf}::/56`, times: 4 },
    { name: `${a}:${b}:${c}::/48`, times: 16 },
  ];
}
