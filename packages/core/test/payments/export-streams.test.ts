import { expect, it, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { RawConnection } from '../attacks/raw.ts';
import { manyPages, settled } from './books.ts';

/** Asks for an export on a connection of its own, whose answers wait as long as it is paused. */
async function asked(paused = false) {
  const all = await manyPages();
  const connection = await RawConnection.open(all.provider.origin);
  if (paused) connection.pause();
  const target = '/v1/partner/reconciliation?date=2024-01-01';
  connection.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${all.key}\r\n\r\n`);
  return { ...all, connection };
}

it('an export that is read slowly asks for no more than the reader takes, and ends with the reader', async () => {
  const { provider, key, pages, connection } = await asked(true);
  await vi.waitFor(() => expect(pages.asked).toBeGreaterThan(0), patient);
  // The pages that fit into buffers of both sides are made; then nothing more.
  const unread = await settled(() => pages.asked);
  expect(unread).toBeLessThan(60);
  // Others are served meanwhile.
  expect((await provider.partnerCall(key, 'GET /v1/partner/users/KID-ANA')).status).toBe(200);
  connection.resume();
  await vi.waitFor(() => expect(pages.asked).toBeGreaterThan(unread + 5), patient);
  connection.reset();
  expect(await settled(() => pages.asked)).toBeLessThan(500);
  expect(provider.errors).toEqual([]);
});

it('an export that breaks off in the middle is cut, logged, and has no summary', async () => {
  const { provider, pages, connection } = await asked();
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
