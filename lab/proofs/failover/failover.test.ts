import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { claimsOf, prove } from './prove.ts';

// Reduced size of `npm run proof:failover`. The requests are always the same, but not those that meet the end
// of the primary.
const seed = 20_261_125;

it('loses nothing and answers again when the primary is killed and its standby takes over', async () => {
  const report = await prove({
    ...{ seed, rounds: 1, quietMs: 1_000, cutMs: 300, awayMs: 600, speed: 10, fsync: false },
    ...{ payers: 3, publishers: 1, exchangers: 1, verifiers: 1, pauseMs: 50 },
  });
  // Limits above the guaranteed ones, because other tests use the machine, too.
  expect(problemsOf(claimsOf(report, { errorMs: 6_000, againMs: 10_000 }))).toEqual([]);
  expect(report.rounds[0]?.tally.errors).toBeGreaterThan(0);
  expect(report.answered.payments).toBeGreaterThan(10);
  expect(report.answered.exchanges).toBeGreaterThan(0);
}, 120_000);
