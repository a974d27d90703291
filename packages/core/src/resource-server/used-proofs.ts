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
  /**
   * Time until which each id of a proof is kept, in the order of these times, and the last of them. After the clock was
   * set back, a new map begins, because later ids are then kept for less long than earlier ones.
   */
  let spans: { readonly ids: Map<string, number>; last: number }[] = [];

  return {
    async use(id) {
      const now = clock.now();
      for (const { ids } of spans)
        for (const [old, until] of ids) {
          if (until > now) break;
          ids.delete(old);
        }
      spans = spans.filter(({ ids }) => ids.size > 0);
      if (spans.some(({ ids }) => ids.has(id))) return false;
      if (spans.reduce((sum, { ids }) => sum + ids.size, 0) >= limit)
        throw new Error(`${limit} DPoP proofs were used within three minutes`);
      const until = now + keptMs;
      let span = spans.at(-1);
      if (span === undefined || until < span.last) {
        span = { ids: new Map(), last: until };
        spans.push(span);
      }
      span.ids.set(id, until);
      span.last = until;
      return true;
    },
  };
}
