import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';

/**
 * Time for which a count of unfinished requests is used, with this process's own starts added, in
 * milliseconds.
 */
const countMs = 1000;

/**
 * Returns the check that refuses one more request if too many are unfinished. They are counted once a second at most, and not for
 * each start: there may be more than the limit for a moment, by what other processes start within a second.
 *
 * @param count - number of unfinished requests at a time
 * @param description - of the error
 */
export function unfinishedLimit(
  { clock, options }: Core,
  count: (now: number) => Promise<number>,
  description: string,
): () => Promise<void> {
  const limit = options.limits.unfinishedInteractions;
  let counted = Promise.resolve(0);
  let countedAt = Number.NEGATIVE_INFINITY;
  let started = 0;

  return async () => {
    const now = clock.now();
    if (now - countedAt >= countMs || now < countedAt) {
      [counted, countedAt, started] = [count(now), now, 0];
      counted.catch(() => {
        countedAt = Number.NEGATIVE_INFINITY;
      });
    }
    if ((await counted) + started >= limit)
      throw new OAuthError('slow_down', description, { headers: { 'Retry-After': '60' } });
    started += 1;
  };
}
