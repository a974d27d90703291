import { postgresStorage } from '../../src/index.ts';

// Claims and completes jobs until there are none, and reports which.
const [connectionString, schema, name] = process.argv.slice(2);
const storage = postgresStorage({ connectionString: String(connectionString), schema: String(schema) });
await storage.open();
process.once('message', async () => {
  const done: string[] = [];
  for (let number = 0; ; number += 1) {
    const claimId = `${name} ${number}`;
    const jobs = await storage.queue.claim({ kinds: ['k'], claimId, now: 1, leaseMs: 1e9, limit: 7 });
    if (jobs.length === 0) break;
    await Promise.all(jobs.map((job) => storage.queue.complete(job)));
    done.push(...jobs.map(({ id }) => id));
  }
  await storage.close();
  process.send?.(done, () => process.disconnect());
});
process.send?.('ready');
