/** Under way at once: few enough for a storage that refuses what has to wait too long for a connection. */
const batch = 64;

/** Does something for each item, some at a time, and answers what came of each, in order. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += batch) {
    const some = items.slice(start, start + batch);
    results.push(...(await Promise.all(some.map((item, place) => work(item, start + place)))));
  }
  return results;
}
