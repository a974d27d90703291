import { fixedWindows } from '../../src/limits/fixed-windows.ts';
import type { Storage } from '../../src/storage.ts';

/** A storage that shares counts of requests between the instances of a test, as PostgreSQL shares them between processes. */
export function sharingCounts(storage: Storage): Storage {
  return { ...storage, rateLimits: fixedWindows() };
}
