import { fixedWindows } from '../../src/limits/fixed-windows.ts';
import type { Storage } from '../../src/storage.ts';

/** A storage that shares counts of requests between the instances of a test, as PostgreSQL shares them between processes. */
export function sharingCounts(storage: Storage): Storage {
  const windows = fixedWindows();
  return {
    ...storage,
    rateLimits: {
      ...windows,
      async peek(requests, presented) {
        return {
          states: await windows.peek(requests),
          client: presented && (await storage.clients.find(presented.clientId)),
          grant: presented && (await storage.grants.find(presented.codeDigest)),
        };
      },
    },
  };
}
