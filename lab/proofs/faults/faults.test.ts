import { expect, it } from 'vitest';
import { problemsOf } from '../../support/proof.ts';
import { claimsOf, prove } from './prove.ts';

// Reduced size of `npm run proof:faults`. The requests are always the same, but not those that a fault meets.
const seed = 20_261_121;

/**
 * Time limit of an error response, in milliseconds. It is above the two seconds that are guaranteed, because other tests use
 * the machine at the same time.
 */
const limitMs = 6_000;

it('loses nothing, does nothing twice and recovers after faults of processes, database, network and disk', async () => {
  const report = await prove({
    seed,
    kills: 4,
    terminations: 3,
    restarts: 1,
    cutSeconds: 3,
    exhaustedSeconds: 4,
    fullSeconds: 1.5,
    quietSeconds: 1,
    payers: 3,
    publishers: 1,
    exchangers: 1,
    pauseMs: 50,
    speed: 10,
    diskMegabytes: 128,
    fsync: false,
  });
  expect(problemsOf(claimsOf(report, limitMs))).toEqual([]);
  // Every fault had an effect, unless this machine does not permit it.
  const felt = new Map(
    report.faults.map(({ name, skipped, tally: { errors, cutOff } }) => [
      name,
      skipped === null ? errors + cutOff > 0 : 'skipped',
    ]),
  );
  const restarts = ['PostgreSQL restarted (fast)', 'PostgreSQL restarted (immediate)'];
  for (const fault of ['kill -9', ...restarts, 'network cut', 'pool exhausted'])
    expect(felt.get(fault), fault).toBe(true);
  expect(report.payments).toBeGreaterThan(50);
  expect(report.exchanges).toBeGreaterThan(0);
}, 300_000);
