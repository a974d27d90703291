import { fixedWindows } from '../../src/limits/fixed-windows.ts';
import type { Storage } from '../../src/storage.ts';

/**
 * Wraps a storage: instances of a test share its counts of requests, as processes share those of PostgreSQL.
 */
export function sharingCounts(storage: Storage): Storage {
  return { ...storage, rateLimits: fixedWindows() };
}
