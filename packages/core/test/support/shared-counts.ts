import { fixedWindows } from '../../src/fixed-windows.ts';
import type { Storage } from '../../src/storage.ts';

/** A storage that shares counts of requests between the instances of a test, as PostgreSQL shares them between processes. */
export function sharingCounts(storage: Storage): Storage {
  const windows = fixedWindows();
  return {
    ...storage,
    rateLimits: {
      ...windows,
      async consumeOfKey(keyId, request) {
        const counted = await windows.consume(request);
        return { ...counted, keyIsLive: await storage.apiKeys.isLive(keyId, request.now) };
      },
    },
  };
}
