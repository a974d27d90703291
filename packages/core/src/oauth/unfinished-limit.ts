import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';

/**
 * Time for which a count of unfinished requests is used, with this process's own starts added, in
 * milliseconds.
 */
const countMs = 1000;

/**
 * Creates a function that refuses a new request if too many are unfinished. Counts at most once a second, not
 * on every start. So the limit may be exceeded briefly, by requests that other processes start within a
 * second.
 *
 * @param count - number of unfinished requests at a time
 * @param description - description in the error
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
