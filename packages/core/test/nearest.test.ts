import { expect, it } from 'vitest';
import { nearest } from '../src/nearest.ts';

const options = ['authUrl', 'baseUrl', 'storage', 'theme', 'webhooks', 'limits', 'partnerLimits', 'colour'];
const words = [...options, 'per'];

it.each([
  ['authurl', 'authUrl'],
  ['authURL', 'authUrl'],
  ['autUrl', 'authUrl'],
  ['auhtUrl', 'authUrl'],
  ['authUrll', 'authUrl'],
  ['basUrl', 'baseUrl'],
  ['color', 'colour'],
  ['webhook', 'webhooks'],
  ['partnerLimit', 'partnerLimits'],
  ['limit', 'limits'],
  ['store', 'storage'],
])('%s is near to %s', (word, expected) => {
  expect(nearest(word, words)).toBe(expected);
});

it.each(['', 'x', 'port', 'database', 'pre', '__proto__', 'authUrl'.repeat(20)])(
  '%j is near to nothing',
  (word) => expect(nearest(word, options)).toBeNull(),
);

it('the nearest one wins', () => {
  expect(nearest('baseUr', ['authUrl', 'baseUri', 'baseUrl', 'base'])).toBe('baseUri');
});
