import { isIP } from 'node:net';
import { addressMatcher } from '../text/ip-address.ts';

/**
 * IPv4 ranges to which requests are refused unless private targets are allowed: multicast, IANA's
 * special-purpose ranges (RFC 6890 and its registry) including those that the registry calls globally
 * reachable, and an internal address of a large cloud.
 */
const specialV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and the metadata service of one cloud
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  // Not in IANA's registry: a public-looking address at which a large cloud serves each virtual machine from
  // its own host.
  '168.63.129.16/32',
];

/**
 * Special-purpose IPv6 ranges inside 2000::/3. All addresses outside of 2000::/3 are not public unicast
 * anyway: `::`, `::1`, embedded IPv4 (mapped, compatible, NAT64), unique local, link-local, multicast,
 * segment routing.
 */
const specialV6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];

type Matcher = (address: string) => boolean;

let matchers: { readonly isSpecial: Matcher; readonly isUnicastV6: Matcher } | undefined;

/**
 * Checks whether an IP address belongs to the public Internet. An IPv6 address that embeds an IPv4 address
 * does not, even a public one, because it is unclear which of the two would be reached.
 * @param address - IP address as `node:net` writes it, without brackets; any other text is not public
 */
export function isPublicAddress(address: string): boolean {
  // `isIP` accepts a zone, which names an interface of this machine.
  if (address.includes('%')) return false;
  const family = isIP(address);
  // Build the matchers with the first address, because building takes several milliseconds of a start.
  matchers ??= {
    isSpecial: addressMatcher([...specialV4, ...specialV6]),
    isUnicastV6: addressMatcher(['2000::/3']),
  };
  const { isSpecial, isUnicastV6 } = matchers;
  return family !== 0 && (family === 4 || isUnicastV6(address)) && !isSpecial(address);
}
