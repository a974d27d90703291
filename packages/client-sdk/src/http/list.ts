import type { Connection, RequestOptions } from '../options.ts';
import type { ApiPromise } from './api-promise.ts';
import { Unreadable } from './body.ts';
import { type ApiRequest, call } from './call.ts';

/**
 * One page of a list.
 *
 * @typeParam Item - type of the items
 * @typeParam Body - response with a page, as the server sends it
 * @example
 * ```ts
 * let page: Page<Transfer> | null = await ostiary.payments.list({ limit: 100 }).page();
 * while (page !== null) {
 *   for (const { id, status } of page.data) console.log(id, status);
 *   page = await page.nextPage();
 * }
 * ```
 */
export class Page<Item, Body = unknown> {
  readonly data: readonly Item[];
  /** Whole response body of the page, including members beside `data`, such as `nextCursor`. */
  readonly body: Body;
  readonly hasNext: boolean;
  readonly #next: (() => ApiPromise<Page<Item, Body>>) | null;

  constructor(data: readonly Item[], body: Body, next: (() => ApiPromise<Page<Item, Body>>) | null) {
    this.data = data;
    this.body = body;
    this.hasNext = next !== null;
    this.#next = next;
  }

  /**
   * Requests the next page of the list; `null` after the last page.
   *
   * @throws OstiaryError
   */
  async nextPage(): Promise<Page<Item, Body> | null> {
    return this.#next === null ? null : await this.#next();
  }
}

/**
 * A list whose pages are requested while it is read: item by item, or page by page.
 *
 * @typeParam Item - type of the items
 * @typeParam Body - response with a page, as the server sends it
 * @example
 * ```ts
 * for await (const transfer of ostiary.payments.list({ status: 'failed' })) {
 *   console.log(transfer.id, transfer.failure?.code);
 * }
 * ```
 */
export class List<Item, Body = unknown> implements AsyncIterable<Item> {
  readonly #first: () => ApiPromise<Page<Item, Body>>;

  constructor(first: () => ApiPromise<Page<Item, Body>>) {
    this.#first = first;
  }

  /**
   * Requests the first page of the list.
   *
   * @throws OstiaryError
   */
  page(): ApiPromise<Page<Item, Body>> {
    return this.#first();
  }

  /**
   * Requests all pages of the list, one after another.
   *
   * @throws OstiaryError
   */
  async *pages(): AsyncGenerator<Page<Item, Body>, void, undefined> {
    let page: Page<Item, Body> | null = await this.#first();
    while (page !== null) {
      yield page;
      page = await page.nextPage();
    }
  }

  /** Yields every item of every page. @throws OstiaryError */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}

/**
 * Response with one page of a list that continues at a cursor.
 *
 * @typeParam Item - type of the items
 */
export interface CursorPage<Item> {
  readonly data: readonly Item[];
  /** Value of `cursor` for the next page; `null` on the last page. */
  readonly nextCursor: string | null;
}

/**
 * Makes a list. `follow` returns the query for the page after a given page, or `null` after the last page.
 */
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

/** Makes a list that continues at a cursor. */
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
