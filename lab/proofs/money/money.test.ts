import fc from 'fast-check';
import { expect, it } from 'vitest';
import { prove, violationsOf } from './run.ts';
import { schedules } from './schedule.ts';

// The small size of `npm run proof:money`. The schedule is always the same; what the kills hit is not.
const seed = 20_261_121;

it('pays each of 60 payments once while the process is killed 4 times', async () => {
  await fc.assert(
    fc.asyncProperty(schedules({ payments: 60, kills: 4 }), async (schedule) => {
      const report = await prove(schedule);
      expect(violationsOf(report)).toEqual([]);
      expect(report.transfers).toBeGreaterThan(30);
    }),
    { seed, numRuns: 1, endOnFailure: true },
  );
}, 60_000);
