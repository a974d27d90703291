import { expect, it } from 'vitest';
import { nearest } from '../src/nearest.ts';

const options = ['authUrl', 'baseUrl', 'storage', 'theme', 'webhooks', 'limits', 'partnerLimits', 'colour'];
const words = [...options, 'per'];

it('a word that somebody mistyped is near to the one that was meant, and others to nothing', () => {
  for (const word of ['authurl', 'authURL', 'autUrl', 'auhtUrl', 'authUrll'])
    expect(nearest(word, words)).toBe('authUrl');
  const typed = ['basUrl', 'color', 'webhook', 'partnerLimit', 'limit', 'store'];
  const meant = ['baseUrl', 'colour', 'webhooks', 'partnerLimits', 'limits', 'storage'];
  expect(typed.map((word) => nearest(word, words))).toEqual(meant);
  for (const word of ['', 'x', 'port', 'database', 'pre', '__proto__', 'authUrl'.repeat(20)])
    expect(nearest(word, options)).toBeNull();
  expect(nearest('baseUr', ['authUrl', 'baseUri', 'baseUrl', 'base'])).toBe('baseUri');
});
