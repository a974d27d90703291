import { PartnerError } from '../errors.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { ListPosition } from '../ports/lists.ts';
import { countedAtMost, readBothWays, readPage, readPlace, writePlace } from '../text/list-pages.ts';

const defaultPageSize = 25;

/** Position after which a page of a list starts, and its maximum number of items. */
export interface Page {
  readonly after: ListPosition | null;
  readonly limit: number;
}

/**
 * Encodes a list position as a cursor. Base64url discourages clients from parsing the cursor, because its
 * content may change.
 */
const cursorOf = (place: ListPosition): string => Buffer.from(writePlace(place)).toString('base64url');

type Listed = { readonly createdAt: number; readonly id: string };

const cursorOfItem = (item: Listed | null): string | null =>
  item && cursorOf({ time: item.createdAt, id: item.id });

/**
 * Decodes the cursor of a list request; `null` if there is none. @throws PartnerError `invalid_request` for
 * an invalid cursor
 */
function placeIn(cursor: string | undefined, path: string): ListPosition | null {
  if (cursor === undefined) return null;
  const place = readPlace(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (place === null)
    throw new PartnerError('invalid_request', { details: [{ path, message: 'is not one of this list' }] });
  return place;
}

/**
 * Reads a page of a list in both directions: the page after `cursor` or, if `before` is given, the page that
 * ends before that position. Also counts the items of the whole list, up to {@link countedAtMost}.
 * @throws PartnerError `invalid_request` for an invalid cursor
 */
export async function inBothDirections<Item extends Listed>(request: {
  readonly cursor?: string | undefined;
  readonly before?: string | undefined;
  readonly order?: 'newest' | 'oldest' | undefined;
  readonly limit?: number | undefined;
  readonly read: (page: Page & { readonly oldestFirst: boolean }) => Promise<Item[]>;
  readonly count: (most: number) => Promise<number>;
  readonly view: (item: Item) => JsonObject;
}) {
  const { cursor, before, order = 'newest', limit = defaultPageSize, read } = request;
  const [{ items, next, previous }, count] = await Promise.all([
    readBothWays({
      after: placeIn(cursor, 'cursor'),
      before: placeIn(before, 'before'),
      size: limit,
      read: ({ isBack, ...page }) => read({ ...page, oldestFirst: (order === 'oldest') !== isBack }),
    }),
    request.count(countedAtMost),
  ]);
  return {
    data: items.map(request.view),
    nextCursor: cursorOfItem(next),
    /** Value of `before` in the request for the page before this one; `null` on the first page. */
    previousCursor: cursorOfItem(previous),
    count,
  };
}

/**
 * Reads a page of a list that is ordered by `createdAt` and then by id, newest first.
 * @throws PartnerError `invalid_request` for an invalid cursor
 */
export async function newestFirst<Item extends Listed>(request: {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly read: (page: Page) => Promise<Item[]>;
  readonly view: (item: Item) => JsonObject;
}): Promise<{ readonly data: JsonObject[]; readonly nextCursor: string | null }> {
  const { cursor, limit = defaultPageSize } = request;
  const after = placeIn(cursor, 'cursor');
  const { items, last } = await readPage(limit, (most) => request.read({ after, limit: most }));
  return {
    data: items.map(request.view),
    nextCursor: cursorOfItem(last),
  };
}
