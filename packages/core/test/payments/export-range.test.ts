import { expect, it } from 'vitest';
import { books, dateOf, day, midnight, read } from './books.ts';

const minute = 60_000;

it('an export is final five minutes after the last day has ended', async () => {
  const { provider, ask } = await books();
  const today = midnight(provider);
  provider.clock.advance(today + day - provider.clock.now());
  const isFinal = async (query: string) => read((await ask(query)).text, 'json').summary.final;
  expect(await isFinal(`date=${dateOf(today - day)}`)).toBe(true);
  expect(await isFinal(`from=${dateOf(today - day)}&to=${dateOf(today)}`)).toBe(false);
  for (const wait of [0, 5 * minute - 1]) {
    provider.clock.advance(wait);
    expect(await isFinal(`date=${dateOf(today)}`)).toBe(false);
  }
  provider.clock.advance(1);
  expect(await isFinal(`date=${dateOf(today)}`)).toBe(true);
  expect(await isFinal(`from=${dateOf(today)}&to=${dateOf(today + day)}`)).toBe(false);
});
