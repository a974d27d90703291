import { expect, it } from 'vitest';
import { RawConnection } from '../attacks/raw.ts';
import { manyPages } from './books.ts';

// That an export is made no faster than it is read is shown where a Request asks for it.
it('an export that breaks off in the middle is cut, logged, and has no summary', async () => {
  const { provider, key, pages } = await manyPages();
  const connection = await RawConnection.open(provider.origin);
  const target = '/v1/partner/reconciliation?date=2024-01-01';
  connection.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
  pages.breakAfter = 3;
  const text = await connection.all();
  expect(text).toContain('HTTP/1.1 200 OK');
  expect(text).toContain('tr_1_0');
  expect(text).not.toContain('"summary"');
  expect(text.endsWith('0\r\n\r\n')).toBe(false);
  expect(provider.errors.map(({ message }) => message)).toEqual(['an answer broke off']);
});

it('HEAD of an export is answered without reading it all', async () => {
  const { provider, key, pages } = await manyPages();
  const answer = await provider.partnerCall(key, 'HEAD /v1/partner/reconciliation?date=2024-01-01');
  expect([answer.status, answer.text]).toEqual([200, '']);
  expect(pages.asked).toBeLessThan(4);
});
