import { expect, it } from 'vitest';
import { timeClaims } from './claims.ts';

// Runs the reduced size of `npm run proof:queue`.

it('claims along an index, however many deliveries wait', async () => {
  const size = { waiting: 20_000, endpoints: 1_000, claims: 20, runs: 1, fsync: false };
  const reports = await timeClaims(size);
  expect(reports.map(({ problems }) => problems)).toEqual([[], [], []]);
  expect(reports.map(({ claims }) => claims)).toEqual([20, 20, 20]);
  // Limit above the guaranteed one, which is for an idle machine. A claim that reads the whole backlog takes
  // longer.
  for (const { median } of reports) expect(median).toBeLessThan(500);
}, 120_000);
