import { z } from 'zod';
import { readPage } from '../paging.ts';
import { checked } from './checked.ts';

const pageSize = z.int().min(1).max(500);

/** What a list of administrators can be asked for. */
export interface PageRequest {
  /** What `next` of the page before was. */
  readonly after?: string;
  /** 1 to 500. @defaultValue 100 */
  readonly limit?: number;
}

/** What `after` has to be of a list that is sorted by time: the time and the id of the last entry. */
export const placeAfter = (id: string) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,15}_${id}$`), 'is not a place in this list')
    .transform((text) => {
      const end = text.indexOf('_');
      return { time: Number(text.slice(0, end)), id: text.slice(end + 1) };
    });

/** `next` is what to pass as `after` for the following page, `null` after the last. @throws TypeError */
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
