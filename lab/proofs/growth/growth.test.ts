import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { problemsOf } from '../../support/proof.ts';
import { growthClaim } from './claims.ts';
import { filled, measure, settingsWith } from './measure.ts';
import { keepUp } from './purge.ts';

// Reduced size of `npm run proof:growth`.

/**
 * Rough limits of the database pages: a cost that grows with its table would be ten times as much. The test
 * does not limit times.
 */
const rough = { median: Number.POSITIVE_INFINITY, pages: 3, morePages: 20 };

it('reads as little of ten times as many rows, and removes old ones while new ones come', async () => {
  const ends = new AsyncDisposableStack();
  onTestFinished(() => ends.disposeAsync());
  const server = await startServer({ fsync: false, settings: settingsWith('128MB') });
  ends.defer(() => server.remove());
  const places = [await filled(ends, server, 2_000), await filled(ends, server, 20_000)];
  const all = await measure(server, places, { first: 3, rounds: 1, perRound: 5 });
  expect(problemsOf([...all].map(([name, taken]) => growthClaim(name, taken, rough)))).toEqual([]);

  const [, larger] = places;
  if (larger === undefined) throw new Error('there is one size only');
  const pace = { seconds: 2, perSecond: 500, restSeconds: 0.2 };
  const { moments, failures, finished } = await keepUp(server, larger, pace);
  expect(failures).toEqual([]);
  expect(finished).toBeGreaterThan(600);
  // The absolute number depends on the machine.
  const last = moments.at(-1);
  expect(last?.backlog).toBeLessThan(last?.due ?? 0);
});
