import { expect, it } from 'vitest';
import { till } from '../../payments/till.ts';
import { payment } from '../../support/partner-api.ts';
import { blamed } from '../refusal.ts';

/**
 * Starts a provider with two final transfers of one day, and advances the clock by two days, so that the day
 * is closed.
 */
async function closedDay() {
  const given = await till();
  const day = new Date(given.provider.clock.now()).toISOString().slice(0, 10);
  const ids = [await given.pay(), await given.pay({ ...payment, amount: '0.05' })];
  await given.work();
  given.provider.clock.advance(2 * 24 * 3_600_000);
  return { ...given, ids: ids.toSorted(), path: `GET /v1/partner/reconciliation?from=${day}&to=${day}`, day };
}

it('each format except JSON is an attachment of its media type, and has every final transfer of the day', async () => {
  const { call, ids, path, day } = await closedDay();
  const json = await call(path);
  expect(json.headers.get('content-type')).toMatch(/^application\/json/);
  expect(json.headers.get('content-disposition')).toBeNull();
  const transfers = json.json().data as { id: string }[];
  expect(transfers.map(({ id }) => id).toSorted()).toEqual(ids);
  for (const [format, type] of [
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv'],
  ] as const) {
    const { headers, text } = await call(`${path}&format=${format}`);
    expect(headers.get('content-type')).toContain(type);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="reconciliation-${day}.${format}"`);
    for (const id of ids) expect(text).toContain(id);
  }
});

it('a range that is malformed, runs backwards or is too long is refused', async () => {
  const { call } = await closedDay();
  const refused = async (query: string) => blamed(await call(`GET /v1/partner/reconciliation?${query}`));
  expect(await refused('from=yesterday&to=2026-01-01')).toEqual(['from']);
  expect(await refused('from=2026-01-02&to=2026-01-01')).toEqual(['to']);
  expect(await refused('from=2026-01-01&to=2026-03-01')).toEqual(['to']);
  expect(await refused('from=2026-01-01&to=2026-01-01&format=xlsx')).toEqual(['format']);
});
