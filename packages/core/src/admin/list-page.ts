import { z } from 'zod';
import type { ListPosition, SortedPage, TimedPage } from '../ports/lists.ts';
import { readBothWays, readPage, readPlace } from '../text/list-pages.ts';
import { isUnstorable } from '../text/storable.ts';
import { checked } from './checked.ts';

/** Schema for the number of entries on one page of a list. */
export const pageSize = z.int().min(1).max(500);

/** Request of an administrator for a page of a list. */
export interface PageRequest {
  /** Value of `next` from the previous page of the list. */
  readonly after?: string;
  /** Maximum number of entries on the page, 1 to 500. @defaultValue 100 */
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

/** Selects a page of a list for administrators that is sorted by name or by time of creation. */
export interface SortedRequest {
  /** Order of the list: by name or by time of creation. @defaultValue `"name"` */
  readonly by?: 'name' | 'created';
  /** True to list in descending order: the last name, or the latest time, first. @defaultValue false */
  readonly descending?: boolean;
  /** Value of `next` from the previous page of the list. */
  readonly after?: string;
  /**
   * Value of `previous` from the following page of the list. Given instead of `after`, it selects the page
   * before that one.
   */
  readonly before?: string;
  /** Maximum number of entries on the page, 1 to 500. @defaultValue 100 */
  readonly limit?: number;
}

/** Page of a list that can be read in both directions. `next` and `previous` are `null` at the ends. */
export interface TwoWayPage<Row> {
  readonly rows: readonly Row[];
  /** Value for `after` in the request for the following page; `null` on the last page. */
  readonly next: string | null;
  /** Value for `before` in the request for the previous page; `null` on the first page. */
  readonly previous: string | null;
}

type SortedPlace = NonNullable<SortedPage['after']>;

/** Schema of a position in a sorted list. The longest texts by which a list is sorted are URLs of endpoints. */
const sortedPlace = z.tuple([z.union([z.string().max(2_048), z.int()]), z.string().max(2_048)]);

const writeSortedPlace = ({ value, id }: SortedPlace): string =>
  Buffer.from(JSON.stringify([value, id])).toString('base64url');

/**
 * Decodes the position in a sorted list from `after` or `before`. @throws TypeError if the text is not a
 * position in a list with this order
 */
function readSortedPlace(text: string, by: SortedPage['by'], name: string): SortedPlace {
  const type = by === 'name' ? 'string' : 'number';
  try {
    const [value, id] = sortedPlace.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    if (typeof value === type && !isUnstorable(`${value}${id}`)) return { value, id };
  } catch {
    // Refused below.
  }
  throw new TypeError(`${name}: is not a place in this list`);
}

const sortedRequest = z.strictObject({
  by: z.enum(['name', 'created']).default('name'),
  descending: z.boolean().default(false),
  after: z.string().max(4_000).optional(),
  before: z.string().max(4_000).optional(),
  limit: pageSize.default(100),
});

/**
 * Reads a page of a sorted list, forwards or backwards. A page that goes back reads the list in the opposite
 * direction.
 * @throws TypeError if the request is invalid
 */
async function readPlaced<Row, Shown>(
  request: SortedRequest,
  list: {
    readonly read: (page: SortedPage) => Promise<readonly Row[]>;
    readonly shown: (row: Row) => Shown;
    readonly placeOf: (row: Row, by: SortedPage['by']) => SortedPlace;
  },
): Promise<TwoWayPage<Shown>> {
  const { by, descending, after, before, limit } = checked(sortedRequest, request);
  const { items, next, previous } = await readBothWays({
    after: after === undefined ? null : readSortedPlace(after, by, 'after'),
    before: before === undefined ? null : readSortedPlace(before, by, 'before'),
    size: limit,
    read: ({ isBack, ...page }) => list.read({ ...page, by, descending: descending !== isBack }),
  });
  const placeOf = (row: Row): string => writeSortedPlace(list.placeOf(row, by));
  return {
    rows: items.map(list.shown),
    next: next && placeOf(next),
    previous: previous && placeOf(previous),
  };
}

/**
 * Reads a page of a list that is sorted by name or by time of creation. @throws TypeError if the request is
 * invalid
 */
export const readSortedPage = <Row extends { readonly createdAt: number }, Shown>(
  request: SortedRequest,
  {
    idOf,
    nameOf,
    ...list
  }: {
    readonly read: (page: SortedPage) => Promise<readonly Row[]>;
    readonly shown: (row: Row) => Shown;
    readonly idOf: (row: Row) => string;
    readonly nameOf: (row: Row) => string;
  },
): Promise<TwoWayPage<Shown>> =>
  readPlaced(request, {
    ...list,
    placeOf: (row, by) => ({ value: by === 'name' ? nameOf(row) : row.createdAt, id: idOf(row) }),
  });

/** Request for a page of a list that is sorted by time, for administrators. */
export interface TimedRequest extends Omit<SortedRequest, 'by' | 'descending'> {
  /** False to list the earliest time first. @defaultValue the latest time first */
  readonly descending?: boolean;
}

/** Reads a page of a list that is sorted by time. @throws TypeError if the request is invalid */
export const readTimedPage = <Row, Shown>(
  request: TimedRequest,
  list: {
    readonly read: (page: TimedPage) => Promise<readonly Row[]>;
    readonly shown: (row: Row) => Shown;
    readonly placeOf: (row: Row) => ListPosition;
  },
): Promise<TwoWayPage<Shown>> =>
  readPlaced(
    { descending: true, ...request, by: 'created' },
    {
      read: ({ descending, after, limit }) =>
        list.read({
          ...{ oldestFirst: !descending, limit },
          after: after === null ? null : { time: Number(after.value), id: after.id },
        }),
      shown: list.shown,
      placeOf(row) {
        const { time, id } = list.placeOf(row);
        return { value: time, id };
      },
    },
  );
