import { fixedWindows } from '../limits/fixed-windows.ts';
import type { Core } from '../options/context.ts';
import type { AddressCounts } from '../ports/rate-limits.ts';

/**
 * Returns the store that counts addresses: the host's, that of the storage if it shares counts between processes, or else the
 * memory of this process, apart for each call of this function.
 */
export function addressCounts({ options, storage: { rateLimits } }: Core): AddressCounts {
  if (options.limits.store !== undefined) return options.limits.store;
  if (rateLimits === undefined) return fixedWindows();
  return {
    consume: (request) => rateLimits.consume(request),
    peek: async (requests) => (await rateLimits.peek(requests, null)).states,
  };
}
