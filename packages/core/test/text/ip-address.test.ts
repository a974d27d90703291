import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { addressBuckets, clientAddressFinder } from '../../src/limits/client-address.ts';

/** Returns the client address of a request with a socket address and an X-Forwarded-For header. */
function found(
  trustedProxies: readonly string[],
  remoteAddress: string | undefined,
  forwarded?: string,
): string | null {
  const request = {
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  };
  return clientAddressFinder(trustedProxies)(request as unknown as IncomingMessage);
}

const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48', '192.0.2.7'];

describe('the address of a client', () => {
  it.each([
    ['198.51.100.1', undefined, '198.51.100.1'],
    ['198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9, 10.9.9.9, 192.0.2.7', '203.0.113.9'],
    ['10.0.0.1', '10.0.0.2,10.0.0.3', '10.0.0.2'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:198.51.100.1', undefined, '198.51.100.1'],
    ['2001:db8:ffff::1', '2001:DB8:0:0::5', '2001:db8::5'],
    ['10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '[2001:db8::5]', '2001:db8::5'],
    ['10.0.0.1', ' 203.0.113.9 ', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.7:41234', '203.0.113.7'],
    ['10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
    ['10.0.0.1', '[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['10.0.0.1', '203.0.113.9:50000, 10.9.9.9:443', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9, ::ffff:10.1.1.1', '203.0.113.9'],
  ])('from %s with X-Forwarded-For %j is %s', (socket, forwarded, expected) => {
    expect(found(proxies, socket, forwarded)).toBe(expected);
  });

  it('cannot be determined without a socket, or when a trusted proxy says something else', () => {
    expect([found([], undefined), found(proxies, undefined, '203.0.113.9')]).toEqual([null, null]);
    const names = ['unknown', 'example.com', 'example.com:443', '_hidden', 'fe80::1%eth0'];
    const ports = [':', ':http', ':123456', ':1:2', '99', ','].map((rest) => `203.0.113.9${rest}`);
    for (const forwarded of [...names, ...ports, '[2001:db8::1]443', '[2001:db8::1]:', '[::1'])
      expect([forwarded, found(proxies, '10.0.0.1', forwarded)]).toEqual([forwarded, null]);
  });

  it('is the socket’s if no proxy is trusted, and a v4 range trusts no v6 address', () => {
    expect(found([], '10.0.0.1', '203.0.113.9')).toBe('10.0.0.1');
    expect(found(['0.0.0.0/0'], '2001:db8::1', '203.0.113.9')).toBe('2001:db8::1');
  });

  it('ignores invalid ranges of trusted proxies', () => {
    const lengths = ['33', '', '-1', '8.5'].map((length) => `10.0.0.0/${length}`);
    for (const range of [...lengths, '10.0.0.0/8/9', '::/129', 'proxy', '', '10.0.0', 'fe80::1%eth0'])
      expect(() => clientAddressFinder(['10.0.0.0/8', range])).toThrow(/^createOstiary: trustedProxies\.1: /);
  });
});

it.each([
  ['192.0.2.1', ['192.0.2.1']],
  ['2001:db8:1:2:3:4:5:6', ['2001:db8:1:2::/64', '2001:db8:1:0::/56', '2001:db8:1::/48']],
  ['2001:db8:1:abcd::1', ['2001:db8:1:abcd::/64', '2001:db8:1:ab00::/56', '2001:db8:1::/48']],
  ['2001:db8:1:cd::1', ['2001:db8:1:cd::/64', '2001:db8:1:0::/56', '2001:db8:1::/48']],
  ['2001:db8::1', ['2001:db8:0:0::/64', '2001:db8:0:0::/56', '2001:db8:0::/48']],
  ['2001:db8::1:2:3:4:5', ['2001:db8:0:1::/64', '2001:db8:0:0::/56', '2001:db8:0::/48']],
  ['::', ['0:0:0:0::/64', '0:0:0:0::/56', '0:0:0::/48']],
  ['1::', ['1:0:0:0::/64', '1:0:0:0::/56', '1:0:0::/48']],
  [null, ['unknown']],
])('what limits count by of %s are its address or its networks: %j', (address, names) => {
  expect(addressBuckets(address)).toEqual(names.map((name, index) => ({ name, times: 4 ** index })));
});
