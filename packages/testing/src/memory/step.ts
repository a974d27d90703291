import type { Tables } from './tables.ts';

/** The failure that callers of any storage understand: answered with 503, and nothing was changed. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
  readonly code = 'STORAGE_UNAVAILABLE';
}

/**
 * Runs one call of a port. The work is synchronous, and JavaScript runs one piece of synchronous work at a
 * time: that alone makes every call here atomic.
 */
export type Step = <T>(work: (tables: Tables) => T) => Promise<T>;
