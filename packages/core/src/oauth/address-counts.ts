import { fixedWindows } from '../limits/fixed-windows.ts';
import type { Core } from '../options/context.ts';
import type { SharedRateLimits } from '../ports/rate-limits.ts';

/**
 * Where addresses are counted: in the host's store, in the storage where it shares counts, or else in the memory of this
 * process, apart for each call of this. Counts that are not in the storage are looked at first, and then the storage.
 */
export function addressCounts({ options, storage }: Core): Pick<SharedRateLimits, 'consume' | 'peek'> {
  const { clients, grants, rateLimits } = storage;
  const { store } = options.limits;
  if (store === undefined && rateLimits !== undefined) return rateLimits;
  const counts = store ?? fixedWindows();
  return {
    consume: (request) => counts.consume(request),
    async peek(requests, presented) {
      const states = await counts.peek(requests);
      if (presented === null || states.some(({ allowed }) => !allowed))
        return { states, client: null, grant: null };
      const { clientId, codeDigest } = presented;
      const [client, grant] = await Promise.all([clients.find(clientId), grants.find(codeDigest)]);
      return { states, client, grant };
    },
  };
}
