import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { prove } from './prove.ts';

// Reduced size of `npm run proof:money`. The schedule is always the same, but not the work that the kills
// interrupt.
const seed = 20_261_121;

it('pays each of 60 payments once while the process is killed 4 times', async () => {
  const { claims, transfers } = await prove({ seed, payments: 60, kills: 4 });
  expect(problemsOf(claims)).toEqual([]);
  expect(transfers).toBeGreaterThan(30);
}, 180_000);
