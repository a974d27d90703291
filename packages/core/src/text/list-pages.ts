import type { ListPosition } from '../ports/lists.ts';

/**
 * Reads a page of a list. Reads one item more than the page's size, to see whether there is another page.
 * @returns the items of the page, and as `last` the item after which the next page starts; `null` on the last page
 */
export async function readPage<Item>(size: number, read: (limit: number) => Promise<readonly Item[]>) {
  const found = await read(size + 1);
  const items = found.slice(0, size);
  return { items, last: found.length > size ? (items.at(-1) ?? null) : null };
}

/**
 * Reads a page of a list that can be read in both directions. A page that goes back reads the list in the opposite order.
 * Reads one item more than the page's size, to see whether there is another page.
 * @returns the items of the page, and those after and before which the neighbouring pages start; `null` at the ends
 */
export async function readBothWays<Item, Place>({
  after,
  before,
  size,
  read,
}: {
  readonly after: Place | null;
  /** Position of the list before which the page ends, for a page that goes back; used instead of `after`. */
  readonly before: Place | null;
  readonly size: number;
  readonly read: (page: {
    readonly after: Place | null;
    readonly limit: number;
    readonly isBack: boolean;
  }) => Promise<readonly Item[]>;
}) {
  const isBack = before !== null;
  const found = await read({ after: before ?? after, limit: size + 1, isBack });
  const items = isBack ? found.slice(0, size).reverse() : found.slice(0, size);
  const hasMore = found.length > size;
  return {
    items,
    next: isBack || hasMore ? (items.at(-1) ?? null) : null,
    previous: (isBack ? hasMore : after !== null) ? (items[0] ?? null) : null,
  };
}

/** Formats a list position as text, which the client sends to get the next page. */
export const writePlace = ({ time, id }: ListPosition): string => `${time}_${id}`;

/** Parses a list position; `null` for text that {@link writePlace} did not write. */
export function readPlace(text: string): ListPosition | null {
  const [, time, id] = /^(\d{1,15})_([a-z]{2,3}_\w{1,90}|[0-9a-f-]{36})$/.exec(text) ?? [];
  return time === undefined || id === undefined ? null : { time: Number(time), id };
}

/** Number at which counts of a list's entries stop. */
export const countedAtMost = 10_000;
