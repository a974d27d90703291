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

/** Formats a list position as text, which the client sends to get the next page. */
export const writePlace = ({ time, id }: ListPosition): string => `${time}_${id}`;

/** Parses a list position; `null` for text that {@link writePlace} did not write. */
export function readPlace(text: string): ListPosition | null {
  const [, time, id] = /^(\d{1,15})_([a-z]{2,3}_\w{1,90}|[0-9a-f-]{36})$/.exec(text) ?? [];
  return time === undefined || id === undefined ? null : { time: Number(time), id };
}
