import type { Connection, RequestOptions } from '../options.ts';
import type { ApiPromise } from './api-promise.ts';
import { Unreadable } from './body.ts';
import { type ApiRequest, call } from './call.ts';
import { List, Page } from './list.ts';

/**
 * A page of a list that goes on at a cursor.
 *
 * @typeParam Item - what it lists
 */
export interface CursorPage<Item> {
  readonly data: readonly Item[];
  /** What to pass as `cursor` next; `null` on the last page. */
  readonly nextCursor: string | null;
}

/** A list whose pages say, by `follow`, what to ask for next; `null` after the last. */
export function listOf<Item, Body extends { readonly data: readonly Item[] }>(
  connection: Connection,
  request: ApiRequest,
  query: object | undefined,
  options: RequestOptions | undefined,
  follow: (body: Body) => object | null,
): List<Item, Body> {
  const pageOf = (more: object): ApiPromise<Page<Item, Body>> =>
    call(connection, { ...request, query: { ...query, ...more } }, options, (body: Body) => {
      if (!Array.isArray(body.data)) throw new Unreadable();
      const next = follow(body);
      return new Page<Item, Body>(body.data, body, next && (() => pageOf(next)));
    });
  return new List(() => pageOf({}));
}

/** A list that goes on at a cursor. */
export function cursorList<Item>(
  connection: Connection,
  request: ApiRequest,
  query: object | undefined,
  options: RequestOptions | undefined,
): List<Item, CursorPage<Item>> {
  return listOf(connection, request, query, options, ({ nextCursor: cursor }) =>
    cursor === null ? null : { cursor },
  );
}
