import { expect, it } from 'vitest';
import { books, dateOf, day, midnight } from '../payments/books.ts';

it('operators get the same bytes as the partner, and clear errors', async () => {
  const { provider, key, add, ask } = await books();
  const start = midnight(provider) - 3 * day;
  await add({ id: 'tr_a', updatedAt: start });
  await add({ id: 'tr_b', updatedAt: start + day });
  const { reconciliation } = provider.ostiary.admin;
  const [from, to] = [dateOf(start), dateOf(start + day)];
  const request = { partner: key.partner, mode: 'live', from, to, format: 'csv' } as const;
  let text = '';
  for await (const piece of await reconciliation.export(request)) text += piece;
  expect(text).toBe((await ask(`from=${from}&to=${to}&format=csv`)).text);
  expect(text).toContain('tr_b');

  // Two pages of transfers, at even intervals from noon to 20:18, so that the estimate after the first page is
  // too high.
  for (let index = 0; index < 300; index += 1)
    await add({ id: `tr_${index}`, updatedAt: start - day / 2 + index * 100_000 });
  const told: (readonly number[])[] = [];
  const onProgress = (...step: number[]) => told.push(step);
  const before = dateOf(start - day);
  const pieces = await reconciliation.export({ ...request, from: before, to: before }, { onProgress });
  for await (const piece of pieces) expect(piece).not.toBe('');
  expect(told).toEqual([[256, Math.round((256 * day) / (day / 2 + 255 * 100_000))]]);

  for (const [changes, problem] of [
    [{ from: '2026-02-30' }, 'from: is not a day that exists'],
    [{ from: to, to: from }, 'to: is before from'],
    [{ from: '2020-01-01' }, 'to: is more than 31 days from from'],
    [{ format: 'xml' }, /^format: /],
  ] as const)
    await expect(reconciliation.export({ ...request, ...changes } as never)).rejects.toThrow(problem);
  await expect(reconciliation.export({ ...request, partner: 'nobody' })).rejects.toMatchObject({
    code: 'partner_not_found',
  });
});
