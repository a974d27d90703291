import { fixedWindows } from '../../src/fixed-windows.ts';
import type { Storage } from '../../src/storage.ts';

/** A storage that shares counts of requests between the instances of a test, as PostgreSQL shares them between processes. */
export function sharingCounts(storage: Storage): Storage {
  const windows = fixedWindows();
  return {
    ...storage,
    rateLimits: {
      ...windows,
      async peekOfExchange(requests, { clientId, codeDigest }) {
        return {
          states: await windows.peek(requests),
          client: await storage.clients.find(clientId),
          grant: await storage.grants.find(codeDigest),
        };
      },
      async consumeOfKey(keyId, request, { idempotencyKey, consent }) {
        const counted = await windows.consume(request);
        const { now } = request;
        return {
          ...counted,
          keyIsLive: await storage.apiKeys.isLive(keyId, now),
          earlier: idempotencyKey && (await storage.idempotency.find({ ...idempotencyKey, now })),
          holdsConsent: consent !== null && (await storage.consents.partnerHolds(consent)),
        };
      },
    },
  };
}
