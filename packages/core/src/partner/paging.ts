import { PartnerError } from '../errors.ts';
import { readPage } from '../paging.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { ListPosition } from '../ports/lists.ts';
import type { Cursors, ListOwner } from './cursor.ts';

const defaultPageSize = 25;

/** What is read of a list: at most so many items that come after a place. */
export interface Page {
  readonly after: ListPosition | null;
  readonly limit: number;
}

/**
 * A page of a list that is ordered by `createdAt` and then by id, newest first.
 * @throws PartnerError `invalid_request` for a cursor that is not one of this list
 */
export async function newestFirst<Item extends { readonly createdAt: number; readonly id: string }>(
  cursors: Cursors,
  list: ListOwner,
  request: {
    readonly cursor?: string | undefined;
    readonly limit?: number | undefined;
    readonly read: (page: Page) => Promise<Item[]>;
    readonly view: (item: Item) => JsonObject;
  },
): Promise<{ readonly data: JsonObject[]; readonly nextCursor: string | null }> {
  const { cursor, limit = defaultPageSize } = request;
  const after = cursor === undefined ? null : cursors.read(list, cursor);
  if (cursor !== undefined && after === null) {
    throw new PartnerError('invalid_request', {
      details: [{ path: 'cursor', message: 'is not one of this list' }],
    });
  }
  const { items, last } = await readPage(limit, (most) => request.read({ after, limit: most }));
  return {
    data: items.map(request.view),
    nextCursor: last === null ? null : cursors.write(list, { time: last.createdAt, id: last.id }),
  };
}
