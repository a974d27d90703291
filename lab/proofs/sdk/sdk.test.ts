import fc from 'fast-check';
import { expect, it } from 'vitest';
import { prove } from './run.ts';
import { schedules } from './schedule.ts';
import { Tally } from './tally.ts';

// Reduced size of `npm run proof:sdk`. The schedules are always the same, but not the attempt that a time-out
// ends.
const seed = 20_261_121;
const runs = 60;

it(`pays once and says the truth in ${runs} schedules of random faults`, async () => {
  console.log(`fault schedules: seed ${seed}`);
  const tally = new Tally();
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      expect(await prove(schedule, tally)).toEqual([]);
    }),
    { seed, numRuns: runs, endOnFailure: true },
  );
  // Every fault must have happened, or the test would prove nothing.
  expect([...tally.ends.keys()].sort()).toEqual(['answered', 'executed', 'not_executed', 'unknown']);
  expect(
    tally.ends
      .get('unknown')
      ?.slice(0, 2)
      .every((count) => count > 0),
  ).toBe(true);
  expect(tally.faults.size).toBe(11);
  expect(tally.retries.settled).toBeGreaterThan(20);
  expect(tally.retries.conflicts).toBeGreaterThan(0);
}, 120_000);
