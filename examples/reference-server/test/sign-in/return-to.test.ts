import { expect, test } from 'vitest';
import { safeReturnTo } from '../../src/sign-in/return-to.ts';

const origin = 'http://localhost:3000';
const home = `${origin}/`;

test.each([
  ['/oauth/interaction/abc', '/oauth/interaction/abc'],
  ['/oauth/authorize?scope=openid&state=a%2Fb', '/oauth/authorize?scope=openid&state=a%2Fb'],
  [`${origin}/account/apps`, '/account/apps'],
  ['/a#fragment', '/a'],
  ['/%2F%2Fevil.example', '/%2F%2Fevil.example'],
  // The result includes the origin, so two slashes in the path stay a path.
  [`${origin}//evil.example/`, '//evil.example/'],
])('%s leads to our own %s', (value, path) => {
  expect(safeReturnTo(value, origin)).toBe(`${origin}${path}`);
  expect(new URL(safeReturnTo(value, origin)).origin).toBe(origin);
});

test.each([
  undefined,
  '',
  'apps',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  ' //evil.example',
  '\u0000//evil.example',
  'https://evil.example',
  'https:evil.example',
  'http://localhost:3001/',
  'http://localhost/',
  'http://localhost:3000@evil.example/',
  'http://user@localhost:3000/',
  'http://localhost:3000.evil.example/',
  'https://localhost:3000/',
  'javascript:alert(1)',
  'data:text/html,x',
  '%2F%2Fevil.example',
  `/${'a'.repeat(9_000)}`,
])('%j leads home', (value) => {
  expect(safeReturnTo(value, origin)).toBe(home);
});
