import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { prove } from './prove.ts';

// Runs the reduced size of `npm run proof:races`.

it('lets one of many win, counts exactly, and gives each delivery to one worker at a time', async () => {
  const reports = await prove({
    ...{ runs: 1, redemptions: 40, repetitions: 30, requests: 90, deliveries: 500 },
    fsync: false,
  });
  expect(problemsOf(reports)).toEqual([]);
  expect(reports).toHaveLength(5);
}, 300_000);
