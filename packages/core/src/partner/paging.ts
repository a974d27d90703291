import { PartnerError } from '../errors.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { ListPosition } from '../ports/lists.ts';
import { readPage, readPlace, writePlace } from '../text/list-pages.ts';

const defaultPageSize = 25;

/** Position after which a page starts, and its maximum number of items. */
export interface Page {
  readonly after: ListPosition | null;
  readonly limit: number;
}

/**
 * Encodes a list position as a cursor. Base64url, so that clients do not parse it: its content may change.
 */
const cursorOf = (place: ListPosition): string => Buffer.from(writePlace(place)).toString('base64url');

/**
 * Reads a page of a list that is ordered by `createdAt` and then by id, newest first.
 * @throws PartnerError `invalid_request` for an invalid cursor
 */
export async function newestFirst<Item extends { readonly createdAt: number; readonly id: string }>(request: {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly read: (page: Page) => Promise<Item[]>;
  readonly view: (item: Item) => JsonObject;
}): Promise<{ readonly data: JsonObject[]; readonly nextCursor: string | null }> {
  const { cursor, limit = defaultPageSize } = request;
  const after = cursor === undefined ? null : readPlace(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (cursor !== undefined && after === null) {
    throw new PartnerError('invalid_request', {
      details: [{ path: 'cursor', message: 'is not one of this list' }],
    });
  }
  const { items, last } = await readPage(limit, (most) => request.read({ after, limit: most }));
  return {
    data: items.map(request.view),
    nextCursor: last === null ? null : cursorOf({ time: last.createdAt, id: last.id }),
  };
}
