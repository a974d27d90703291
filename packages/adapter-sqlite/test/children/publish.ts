import { published } from '../../../testing/src/contract/webhook-samples.ts';
import { args, storage, whenAllAreReady } from '../../../testing/test/adapters/children/storage.ts';

// Publishes events one after the other.
const [count] = args;

await storage.open();
whenAllAreReady(async () => {
  for (let number = 0; number < Number(count); number += 1) await published(storage, String(number));
});
