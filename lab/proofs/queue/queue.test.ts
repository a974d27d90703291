import { expect, it } from 'vitest';
import { timeClaims } from './claims.ts';
import { soak } from './soak.ts';
import { countStatements } from './statements.ts';

// The small size of `npm run proof:queue`.

it.concurrent('needs at most three statements for a delivery, and far less for each of many', async () => {
  const [backlog, alone] = await countStatements({ events: 50, singles: 5, fsync: false });
  expect(backlog?.deliveries).toBe(500);
  expect(backlog?.perDelivery).toBeGreaterThan(0);
  expect(backlog?.perDelivery).toBeLessThan(1);
  expect(alone?.perDelivery).toBeLessThanOrEqual(3);
}, 120_000);

it.concurrent('claims along an index, however many deliveries wait', async () => {
  const size = { waiting: 20_000, endpoints: 1_000, claims: 20, runs: 1, fsync: false };
  const reports = await timeClaims(size);
  expect(reports.map(({ problems }) => problems)).toEqual([[], [], []]);
  expect(reports.map(({ claims }) => claims)).toEqual([20, 20, 20]);
  // No promise, which is about an idle machine; a claim that reads the backlog takes longer than this.
  for (const { median } of reports) expect(median).toBeLessThan(500);
}, 120_000);

it.concurrent('publishes, delivers and purges at one rate, and nothing grows', async () => {
  const report = await soak({ seconds: 10, sampleSeconds: 0.5, eventsPerSecond: 20, fsync: false });
  expect(report.problems).toEqual([]);
  expect(report.growth.filter(({ holds }) => !holds)).toEqual([]);
  expect(report.deliveries).toBeGreaterThan(100);
  expect(report.purged).toBeGreaterThan(100);
}, 120_000);
