import { fixedWindows } from '../../src/limits/fixed-windows.ts';
import type { Storage } from '../../src/storage.ts';

/**
 * Wraps a storage so that several instances share its rate limit counts, as processes on PostgreSQL do.
 */
export function sharingCounts(storage: Storage): Storage {
  return { ...storage, rateLimits: fixedWindows() };
}
