import { args, storage, whenAllAreReady } from '../../../testing/test/adapters/children/storage.ts';

// Claims and completes jobs until there are none, and reports which.
await storage.open();
whenAllAreReady(async () => {
  const done: string[] = [];
  for (let number = 0; ; number += 1) {
    const claimId = `${args[0]} ${number}`;
    const jobs = await storage.queue.claim({ kinds: ['k'], claimId, now: 1, leaseMs: 1e9, limit: 7 });
    if (jobs.length === 0) return done;
    await Promise.all(jobs.map((job) => storage.queue.complete(job)));
    done.push(...jobs.map(({ id }) => id));
  }
});
