import { expect, it } from 'vitest';
import { freshForMs } from '../../src/oauth/document-freshness.ts';

const seconds = (headers: Parameters<typeof freshForMs>[0]) => freshForMs(headers) / 1000;
const date = 'Fri, 27 Nov 2026 12:00:00 GMT';

it.each<[seconds: number, headers: Parameters<typeof freshForMs>[0]]>([
  [300, {}],
  [3600, { 'cache-control': 'public, max-age=3600' }],
  [3600, { 'cache-control': 'MAX-AGE="3600", must-revalidate' }],
  [7200, { 'cache-control': 'max-age=3600, s-maxage=7200' }],
  [300, { 'cache-control': 'max-age=1' }],
  [86_400, { 'cache-control': 'max-age=31536000, immutable' }],
  [86_400, { 'cache-control': 'max-age=9999999999' }],
  [300, { 'cache-control': 'max-age=99999999999999999999' }],
  [300, { 'cache-control': 'max-age=-3600' }],
  [300, { 'cache-control': 'x-max-age=3600' }],
  [300, { 'cache-control': 'no-store' }],
  [300, { 'cache-control': 'no-cache, max-age=3600' }],
  [300, { 'cache-control': 'private, max-age=3600' }],
  [3000, { 'cache-control': 'max-age=3600', age: '600' }],
  [300, { 'cache-control': 'max-age=3600', age: '3600' }],
  [3600, { 'cache-control': 'max-age=3600', age: 'old' }],
  [3600, { date, expires: 'Fri, 27 Nov 2026 13:00:00 GMT' }],
  [300, { date, expires: '0' }],
  [300, { expires: 'Fri, 27 Nov 2026 13:00:00 GMT' }],
  [600, { 'cache-control': 'max-age=600', date, expires: 'Fri, 27 Nov 2026 13:00:00 GMT' }],
])('a document is kept for %i seconds with %o', (expected, headers) => {
  expect(seconds(headers)).toBe(expected);
});
