import type { Clock } from '../ports/clock.ts';

/** Ids of used DPoP proofs, shared by all processes of a resource. */
export interface UsedProofs {
  /**
   * Marks a DPoP proof as used. Returns `true` for the first call with an id, and `false` for every other
   * call until `expiresAt`, over any number of processes. If it throws or takes too long, the request gets a
   * 503.
   */
  readonly use: (id: string, expiresAt: Date) => Promise<boolean>;
}

/**
 * Time for which the id (`jti`) of a DPoP proof is kept, in milliseconds. An id must be kept until two
 * minutes after the proof's `iat`, which may be one minute ahead.
 */
const keptMs = 180_000;

/**
 * Creates a store in memory for at most `limit` ids of used DPoP proofs. No id is removed before its proof
 * expires, because the proof could then be used again: while the store is full, `use` throws.
 */
export function usedProofsInMemory(clock: Clock, limit: number): UsedProofs {
  /** Time until which each id of a proof is kept, oldest id first. */
  const ids = new Map<string, number>();

  return {
    async use(id) {
      const now = clock.now();
      for (const [old, until] of ids) {
        if (until > now) break;
        ids.delete(old);
      }
      if (ids.has(id)) return false;
      const [first = 0] = ids.values();
      // The first id is from before the clock was set back, and kept for longer: ids behind it may have expired.
      if (ids.size >= limit && first > now + keptMs)
        for (const [old, until] of ids) if (until <= now) ids.delete(old);
      if (ids.size >= limit) throw new Error(`${limit} DPoP proofs were used within three minutes`);
      ids.set(id, now + keptMs);
      return true;
    },
  };
}
