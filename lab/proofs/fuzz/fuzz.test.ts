import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { prove } from './prove.ts';

// Reduced size of `npm run proof:fuzz`. The requests are always the same.
const seed = 20_261_127;

it('random requests get documented errors and no 5xx, and the host serves its users afterwards', async () => {
  const { claims, reports } = await prove({ seed, requests: 60 });
  expect(problemsOf(claims)).toEqual([]);
  // Requests reach every check: some are right, and others are wrong in one place only.
  const outcomes = new Set(reports.flatMap((report) => [...report.outcomes.keys()]));
  for (const outcome of [
    '303 ok',
    '201 ok',
    '303 invalid_target',
    '400 invalid_dpop_proof',
    '401 invalid_client',
  ])
    expect(outcomes).toContain(outcome);
}, 120_000);
