import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/webhooks/addresses.ts';

/**
 * Ranges of addresses that are not public: addresses inside, mostly the first and the last, and public
 * addresses outside.
 */
const ranges: readonly (readonly [name: string, inside: string, outside: string])[] = [
  ['this network', '0.0.0.0 0.255.255.255', '1.1.1.1'],
  ['private, 10', '10.0.0.0 10.255.255.255', '9.255.255.255 11.0.0.0'],
  ['carriers', '100.64.0.0 100.127.255.255', '100.63.255.255 100.128.0.0'],
  ['loopback', '127.0.0.0 127.255.255.255', '126.255.255.255 128.0.0.0'],
  ['a cloud’s host', '168.63.129.16', '8.8.8.8'],
  ['link-local', '169.254.0.0 169.254.255.255', '169.253.255.255 169.255.0.0'],
  ['private, 172', '172.16.0.0 172.31.255.255', '172.15.255.255 172.32.0.0'],
  ['protocol assignments', '192.0.0.0 192.0.0.255', '192.0.1.0'],
  ['documentation', '192.0.2.1 198.51.100.1 203.0.113.1', '93.184.216.34'],
  ['AS112, AMT and relays', '192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1', '192.169.0.0'],
  ['private, 192', '192.168.0.0 192.168.255.255', '192.167.255.255 192.169.0.0'],
  ['benchmarks', '198.18.0.0 198.19.255.255', '198.17.255.255 198.20.0.0'],
  ['multicast, reserved', '224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255', '223.255.255.255'],
  ['v6 unspecified and loopback', ':: ::1', '2000::'],
  ['v4 in v6', '::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::FFFF:7f00:1', '2003::1'],
  ['v4 in v6, long', '0:0:0:0:0:ffff:7f00:1 ::ffff:0:8.8.8.8', '2A00:1450:4001:81B::200E'],
  ['NAT64', '64:ff9b::8.8.8.8 64:ff9b:1::1', '2001:4860:4860::8888'],
  ['discard', '100::1 100:0:0:1::1 1fff:ffff::1', '2606:4700:4700::1111'],
  ['IETF protocols', '2001:: 2001:0:4136:e378::1 2001:1ff:ffff::1', '2001:200::1'],
  ['v6 documentation', '2001:db8::1 2001:db8:ffff::1', '2001:db7:ffff::1 2001:db9::1'],
  ['6to4', '2002::1 2002:808:808::1 2620:4f:8000::1', '2003::1'],
  ['v6 documentation, new', '3fff::1 3fff:fff:ffff::1 4000::1', '3ffe:ffff::1'],
  ['segment routing', '5f00::1', '2000::'],
  ['unique local', 'fc00::1 fdff:ffff::1', '2000::'],
  ['link-local, site-local, multicast', 'fe80::1 febf::1 fec0::1 ff02::1', '2000::'],
];

describe('a public address', () => {
  it.each(ranges)('is not one of %s: %s, but %s are', (_name, inside, outside) => {
    for (const address of inside.split(' '))
      expect([address, isPublicAddress(address)]).toEqual([address, false]);
    for (const address of outside.split(' '))
      expect([address, isPublicAddress(address)]).toEqual([address, true]);
  });

  it.each([
    ...['', ' 8.8.8.8', '8.8.8.8 ', '8.8.8', '8.8.8.8.', '08.8.8.8', '0x8.8.8.8', '134744072', '8.8.8.8:443'],
    ...['8.8.8.8/32', '８.８.８.８', '[2606:4700::1111]', '2606:4700::1111%eth0', '2606:4700::1111%'],
    ...['2606:4700:::1111', '2606:4700::1111/64', 'example.com', 'localhost'],
  ])('is not %j, which is no address', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});
