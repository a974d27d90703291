import type { DedupeStore } from './store.ts';

/** Options of {@link memoryDedupe}. */
export interface MemoryDedupeOptions {
  /**
   * Maximum number of handled events to remember. The oldest events are forgotten first.
   * @defaultValue 10 000
   */
  readonly most?: number;
}

/**
 * Makes a dedupe store that remembers events in this process: for tests, and for a single process that may
 * handle an event again after a restart.
 * @throws TypeError if `most` is not a whole number above 0
 */
export function memoryDedupe({ most = 10_000 }: MemoryDedupeOptions = {}): DedupeStore {
  if (!Number.isSafeInteger(most) || most < 1) throw new TypeError('most must be a whole number above 0');
  const claims = new Map<string, { readonly token: string; readonly until: number }>();
  const completed = new Set<string>();
  return {
    async claim({ id, token, now, leaseMs }) {
      if (completed.has(id)) return 'completed';
      const held = claims.get(id);
      if (held !== undefined && held.until > now) return 'busy';
      claims.set(id, { token, until: now + leaseMs });
      return 'claimed';
    },
    async complete({ id }) {
      claims.delete(id);
      completed.add(id);
      for (const oldest of completed) {
        if (completed.size <= most) break;
        completed.delete(oldest);
      }
    },
    async release({ id, token }) {
      if (claims.get(id)?.token === token) claims.delete(id);
    },
  };
}
