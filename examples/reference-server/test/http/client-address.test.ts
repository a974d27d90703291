import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { clientAddress, networkOf } from '../../src/http/client-address.ts';

function request(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  return {
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage;
}

describe('clientAddress', () => {
  const find = clientAddress(['10.0.0.0/8', '2001:db8:1::/48']);

  test.each([
    ['a stranger is the client, whatever it claims', '192.0.2.9', '1.2.3.4', '192.0.2.9'],
    ['a trusted proxy may name the client', '10.0.0.1', '192.0.2.9', '192.0.2.9'],
    ['what the client wrote itself is left of it and ignored', '10.0.0.1', '6.6.6.6, 192.0.2.9', '192.0.2.9'],
    ['several proxies are walked through', '10.0.0.1', '192.0.2.9, 10.0.0.3, 10.0.0.2', '192.0.2.9'],
    ['proxies all the way: the first of them', '10.0.0.1', '10.0.0.3', '10.0.0.3'],
    ['a proxy that says nothing is the client', '10.0.0.1', undefined, '10.0.0.1'],
    ['a mapped IPv4 address is unmapped', '::ffff:10.0.0.1', '::ffff:192.0.2.9', '192.0.2.9'],
    ['IPv6 proxies count too', '2001:db8:1::7', '2001:DB8:9::1', '2001:db8:9::1'],
    ['a port behind the address is none of its business', '10.0.0.1', '192.0.2.9:4711', '192.0.2.9'],
    ['nor one behind an IPv6 address', '10.0.0.1', '[2001:db8:9::1]:4711', '2001:db8:9::1'],
    ['nor are brackets without a port', '10.0.0.1', '[2001:db8:9::1]', '2001:db8:9::1'],
    ['nor behind a mapped one', '10.0.0.1', '[::ffff:192.0.2.9]:4711', '192.0.2.9'],
    ['proxies with ports are walked through', '10.0.0.1', '192.0.2.9:1, 10.0.0.3:2,10.0.0.2', '192.0.2.9'],
    ['an IPv6 address without brackets has no port', '10.0.0.1', '2001:db8:9::1:4711', '2001:db8:9::1:4711'],
    ['brackets around IPv4 and a port that is none are nobody', '10.0.0.1', '192.0.2.9:99999999', null],
    ['a port without an address is nobody', '10.0.0.1', ':4711', null],
    ['something that is no address is nobody', '10.0.0.1', 'evil', null],
    ['a closed socket is nobody', undefined, '192.0.2.9', null],
  ])('%s', (_, remote, forwarded, expected) => {
    expect(find(request(remote, forwarded))).toBe(expected);
  });

  test('without trusted proxies the header means nothing', () => {
    expect(clientAddress([])(request('10.0.0.1', '192.0.2.9'))).toBe('10.0.0.1');
  });
});

test.each([
  ['192.0.2.9', '192.0.2.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  [null, 'unknown'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ['192.0.2.9', '192.0.2.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
  [null, 'unknown'],
])('the larger network of %s is %s', (address, network) => {
  expect(networkOf(address, 48)).toBe(network);
});
