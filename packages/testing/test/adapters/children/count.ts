import { createHourlyCounts } from '../../../../core/src/telemetry/hourly-counts.ts';
import { args, storage } from './storage.ts';

// Counts at a fixed time and stores each ten, reports, and counts ten more, which it stores only if it ends by itself.
const [rounds, now] = args.map(Number);

await storage.open();
const counts = createHourlyCounts({
  ...{ store: storage.hourlyCounts, clock: { now: () => now ?? 0 } },
  logger: { debug() {}, info() {}, warn: fail, error: fail },
  // Stores only when it is told to.
  schedule: () => () => undefined,
});

function fail(fields: object): void {
  throw new Error(JSON.stringify(fields));
}

process.once('message', async () => {
  for (let round = 0; round < (rounds ?? 0); round += 1) {
    for (let number = 0; number < 10; number += 1) counts.add('sign_ins', 'live');
    await counts.flush();
  }
  for (let number = 0; number < 10; number += 1) counts.add('sign_ins', 'live');
  process.send?.('counted');
  process.once('message', async () => {
    await counts.close();
    await storage.close();
    process.disconnect();
  });
});
process.send?.('ready');
