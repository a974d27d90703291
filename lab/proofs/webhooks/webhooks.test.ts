import { describe, expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { proveFairness } from './fairness.ts';
import { behaviours, prove } from './prove.ts';

// Reduced size of `npm run proof:webhooks`. The moments of the kills are always the same, but not the work
// that they interrupt.
const seed = 20_261_121;

// Run these at the same time: they mostly wait for processes, for attempts that hang, and for retries.
describe.concurrent('a worker that is killed 3 times', () => {
  it.each(behaviours)(
    'delivers 200 events to a receiver that is %s, none lost, duplicates with the same id and bytes only',
    async (behaviour) => {
      const { claims, requests } = await prove(behaviour, { deliveries: 200, kills: 3, seed });
      expect(problemsOf(claims)).toEqual([]);
      expect(requests).toBeGreaterThanOrEqual(200);
    },
    180_000,
  );
});

it('serves a healthy endpoint within two seconds while 100 others hang until the deadline', async () => {
  expect((await proveFairness({ seconds: 12, everyMs: 100, backlog: 10 })).problems).toEqual([]);
}, 90_000);
