import { expect, test } from 'vitest';
import { networkOf } from '../../src/http/network.ts';

test.each([
  ['192.0.2.9', '192.0.2.9', '192.0.2.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:0db8:1:2::9', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
  ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  [null, 'unknown', 'unknown'],
])('the network of %s is %s, the larger one %s', (address, network, larger) => {
  expect([networkOf(address), networkOf(address, 48)]).toEqual([network, larger]);
});
