export interface Page<Item> {
  readonly items: readonly Item[];
  /** After which one the next page goes on; `null` on the last page. */
  readonly last: Item | null;
}

/** Reads a page: one item more than it holds tells whether there is another page. */
export async function readPage<Item>(
  size: number,
  read: (limit: number) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  const found = await read(size + 1);
  const items = found.slice(0, size);
  return { items, last: found.length > size ? (items.at(-1) ?? null) : null };
}
