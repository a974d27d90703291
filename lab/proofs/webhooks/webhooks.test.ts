import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proveFairness } from './fairness.ts';
import { plans } from './plans.ts';
import { behaviours } from './receiver.ts';
import { prove, violationsOf } from './run.ts';

// The small size of `npm run proof:webhooks`. The moments are always the same; what the kills hit is not.
const seed = 20_261_121;

// At the same time: most of theirs is waiting, for processes, for attempts that hang, for retries.
describe.concurrent('a worker that is killed 3 times', () => {
  it.each(behaviours)(
    'delivers 200 events to a receiver that is %s, none lost, duplicates with the same id and bytes only',
    async (behaviour) => {
      const [plan] = fc.sample(plans({ behaviour, deliveries: 200, kills: 3 }), { seed, numRuns: 1 });
      if (plan === undefined) throw new Error('there is no plan');
      const report = await prove(plan);
      expect(violationsOf(report)).toEqual([]);
      expect(report).toMatchObject({ lost: 0 });
      expect(report.requests).toBeGreaterThanOrEqual(200);
    },
    180_000,
  );
});

it('serves a healthy endpoint within two seconds while 99 others hang until the deadline', async () => {
  const report = await proveFairness({ seconds: 12, everyMs: 100, backlog: 10 });
  expect(report).toMatchObject({ hanging: 99, backlog: 990, arrived: report.events });
  expect(report.p95).toBeLessThan(2_000);
}, 90_000);
