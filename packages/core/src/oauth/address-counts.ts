import { fixedWindows } from '../limits/fixed-windows.ts';
import type { Core } from '../options/context.ts';
import type { AddressCounts } from '../ports/rate-limits.ts';

/**
 * Returns the store that counts addresses: the host's, that of the storage if it shares counts between processes, or else the
 * memory of this process, apart for each call of this function.
 */
export function addressCounts({ options, storage }: Core): AddressCounts {
  return options.limits.store ?? storage.rateLimits ?? fixedWindows();
}
