/** The region that every live page has: what is said to those who hear it change. */
const said = 'said';

const tags = /<([a-z]+)( [^>]*)>/g;

/** The end of the element whose content begins at `from`. */
function endOf(page: string, tag: string, from: number): number {
  const same = new RegExp(`<(/?)${tag}[ >]`, 'g');
  same.lastIndex = from;
  for (let depth = 1, found = same.exec(page); found !== null; found = same.exec(page)) {
    depth += found[1] === '/' ? -1 : 1;
    if (depth === 0) return found.index + found[0].length;
  }
  throw new TypeError(`console: <${tag}> is not closed`);
}

/**
 * The elements `[data-live]` of a page, by id; `null` where it is no page that keeps itself up to date. Pages are made of templates
 * that close what they open, and no `<` or `"` is left of what is put in: looking for tags is enough.
 */
export function regionsOf(page: string): ReadonlyMap<string, string> | null {
  const regions = new Map<string, string>();
  let end = 0;
  for (const { 0: start, 1: tag = '', 2: attributes = '', index } of page.matchAll(tags)) {
    // One inside another comes with it.
    const isLive = index >= end && / data-live(?= |$)/.test(attributes.replaceAll(/"[^"]*"/g, ''));
    if (!isLive) continue;
    const id = / id="([^"]+)"/.exec(attributes)?.[1];
    if (id === undefined) throw new TypeError(`console: ${start} has no id`);
    end = endOf(page, tag, index + start.length);
    regions.set(id, page.slice(index, end));
  }
  return regions.has(said) ? regions : null;
}
