import { expect, it } from 'vitest';
import { createTestBudget } from '../../src/webhooks/test-budget.ts';

const none = { free: { live: 512, test: 256 }, most: new Map() };

it('a partner in test mode has 120 attempts after a pause, and ten more in each second', () => {
  const budget = createTestBudget();
  const left = (now: number) => budget.limited(none, now).most.get('test:acme');
  expect(left(0)).toBe(undefined);
  for (let attempt = 0; attempt < 130; attempt += 1) budget.spend('test:acme', 0);
  expect(left(0), 'what a claim took too much is paid back').toBe(0);
  expect(left(1_000)).toBe(0);
  expect(left(1_500)).toBe(5);
  budget.giveBack('test:acme');
  expect(left(1_500)).toBe(6);
  expect(left(1_000), 'a clock that goes back adds nothing').toBe(6);
  expect(left(2_000)).toBe(16);
  expect(left(60_000)).toBe(undefined);
});

it('the budget narrows shares, and never widens them', () => {
  const budget = createTestBudget();
  budget.spend('test:acme', 0);
  budget.spend('live:acme', 0);
  const limited = budget.limited(
    {
      ...none,
      most: new Map([
        ['test:acme', 7],
        ['live:acme', 9],
      ]),
    },
    0,
  );
  expect(limited).toEqual({
    free: none.free,
    most: new Map([
      ['test:acme', 7],
      ['live:acme', 9],
    ]),
  });
});
