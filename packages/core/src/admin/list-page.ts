import { z } from 'zod';
import type { ListPosition } from '../ports/lists.ts';
import { readPage, readPlace } from '../text/list-pages.ts';
import { checked } from './checked.ts';

/** Schema for the number of rows on one page. */
export const pageSize = z.int().min(1).max(500);

/** Page of a list for administrators. */
export interface PageRequest {
  /** Value of `next` from the previous page. */
  readonly after?: string;
  /** Number of rows, 1 to 500. @defaultValue 100 */
  readonly limit?: number;
}

/**
 * Returns the position after which a list sorted by time continues. @throws TypeError if `after` is not a
 * value of `next`
 */
export function placeAfter({ after }: PageRequest): ListPosition | null {
  if (after === undefined) return null;
  const place = typeof after === 'string' ? readPlace(after) : null;
  if (place === null) throw new TypeError('after: is not a place in this list');
  return place;
}

/**
 * Reads a page of a list. Pass `next` as `after` to get the following page; it is `null` on the last page.
 * @throws TypeError if the page request is invalid
 */
export async function listPage<Row, Shown>(
  { limit = 100 }: PageRequest,
  list: {
    readonly read: (limit: number) => Promise<readonly Row[]>;
    readonly shown: (row: Row) => Shown;
    readonly placeOf: (row: Row) => string;
  },
): Promise<{ readonly page: readonly Shown[]; readonly next: string | null }> {
  const { items, last } = await readPage(checked(pageSize, limit, 'limit'), list.read);
  return { page: items.map(list.shown), next: last === null ? null : list.placeOf(last) };
}
