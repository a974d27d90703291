import type { Core } from '../../context.ts';
import { OAuthError } from '../../errors.ts';

/** How long a count is believed, this process's own starts added, in milliseconds. */
const countMs = 1000;

/** `Retry-After` where there are too many, in seconds. */
const retryAfterSeconds = 60;

/** How many authorization requests may wait for their users. */
export interface InteractionLimit {
  /**
   * To be called before one more is stored.
   * @throws OAuthError `slow_down`, 429 with `Retry-After`
   */
  acquire(): Promise<void>;
}

/**
 * See {@link InteractionLimit}. What is there is counted once a second at most, and not for each start: so there may be
 * more than the ceiling for a moment, by what other processes start within a second.
 */
export function interactionLimit({ storage, clock, options }: Core): InteractionLimit {
  const ceiling = options.limits.unfinishedInteractions;
  let count = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let counting: Promise<void> | null = null;

  async function recount(now: number): Promise<void> {
    try {
      count = await storage.interactions.count(now);
      countedAt = now;
    } finally {
      counting = null;
    }
  }

  return {
    async acquire() {
      const now = clock.now();
      if (now - countedAt >= countMs || now < countedAt) {
        counting ??= recount(now);
        await counting;
      }
      if (count >= ceiling) {
        throw new OAuthError('slow_down', 'Too many authorization requests wait for their users.', {
          headers: { 'Retry-After': String(retryAfterSeconds) },
        });
      }
      count += 1;
    },
  };
}
