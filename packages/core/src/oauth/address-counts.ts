import { fixedWindows } from '../limits/fixed-windows.ts';
import type { Core } from '../options/context.ts';
import type { AddressCounts } from '../ports/rate-limits.ts';

/**
 * Returns the store for counts per client address: the host's; otherwise the storage, if it shares counts
 * between processes; otherwise memory of this process, separate for each call of this function.
 */
export function addressCounts({ options, storage }: Pick<Core, 'options' | 'storage'>): AddressCounts {
  return options.limits.store ?? storage.rateLimits ?? fixedWindows();
}
