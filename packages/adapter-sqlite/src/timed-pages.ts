import type { ListPosition, TimedPage } from '@ostiary/core/storage';

/**
 * Returns the position after which a page of a list starts. A page of the newest rows starts after all rows
 * that are later than `until`.
 */
export function startOf(
  { oldestFirst, after }: Pick<TimedPage, 'oldestFirst' | 'after'>,
  until: number | null,
): ListPosition {
  if (oldestFirst) return after ?? { time: -1, id: '' };
  if (until === null) return after ?? { time: Number.MAX_SAFE_INTEGER, id: '' };
  // No id is less than the empty one, so nothing later than `until` is listed.
  return after === null || after.time > until ? { time: until + 1, id: '' } : after;
}
