import fc from 'fast-check';
import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { prove } from './prove.ts';
import { schedules } from './schedule.ts';

// The small size of `npm run proof:money`. The schedule is always the same; what the kills hit is not.
const seed = 20_261_121;

it('pays each of 60 payments once while the process is killed 4 times', async () => {
  const [schedule] = fc.sample(schedules({ payments: 60, kills: 4 }), { seed, numRuns: 1 });
  if (schedule === undefined) throw new Error('there is no schedule');
  const { claims, transfers } = await prove(schedule);
  expect(problemsOf(claims)).toEqual([]);
  expect(transfers).toBeGreaterThan(30);
}, 180_000);
