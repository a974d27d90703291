import { inParallel } from '../../../testing/src/contract/case.ts';
import { args, storage, whenAllAreReady } from '../../../testing/test/adapters/children/storage.ts';

// Counts as many requests at once in each of many buckets, and reports how many of each bucket were allowed.
const [runs = 0, requests = 0, limit = 0] = args.map(Number);

await storage.open();
whenAllAreReady(async () => {
  const allowed: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const request = { bucket: `run ${run}`, limit, windowMs: 60_000, now: 1 };
    const states = await inParallel(requests, async () => storage.rateLimits?.consume(request));
    allowed.push(states.filter((state) => state?.allowed === true).length);
  }
  return allowed;
});
