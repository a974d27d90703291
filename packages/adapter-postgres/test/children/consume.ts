import { postgresStorage } from '../../src/index.ts';

// Counts as many requests at once in each of many buckets, and reports how many of each bucket were allowed.
const [connectionString, schema, runs, requests, limit] = process.argv.slice(2);

const storage = postgresStorage({ connectionString: String(connectionString), schema: String(schema) });
await storage.open();
process.once('message', async () => {
  const allowed: string[] = [];
  for (let run = 0; run < Number(runs); run += 1) {
    const request = { bucket: `run ${run}`, limit: Number(limit), windowMs: 60_000, now: 1 };
    const states = await Promise.all(
      Array.from({ length: Number(requests) }, () => storage.rateLimits?.consume(request)),
    );
    allowed.push(String(states.filter((state) => state?.allowed === true).length));
  }
  await storage.close();
  process.send?.(allowed, () => process.disconnect());
});
process.send?.('ready');
