import { claim, published, sampleAttempt } from '../../../testing/src/contract/webhook-samples.ts';
import { args, storage, whenAllAreReady } from '../../../testing/test/adapters/children/storage.ts';

// Publishes events while it delivers what is due, and reports the deliveries whose results were stored, batch
// by batch, until nothing is left or the process is killed.
const [name, count] = args;

await storage.open();
whenAllAreReady(async () => {
  for (let round = 0; ; round += 1) {
    if (round < Number(count)) await published(storage, `${name}_${round}`);
    const claimed = await claim(storage, `${name} ${round}`, { limit: 8, endpointLimit: 2 });
    if (claimed.length === 0 && round >= Number(count)) return;
    const results = claimed.map(({ id, claimId, attempt }) => {
      return {
        ...{ id, claimId, attempt: sampleAttempt(attempt), isCutOff: false },
        next: { status: 'delivered' },
      } as const;
    });
    const counted = await storage.deliveries.finish(results);
    process.send?.(claimed.map(({ id }) => id).filter((_, index) => counted[index]));
  }
});
