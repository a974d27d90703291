import { existsSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pages, root, textOf } from './support/pages.ts';

/** The names of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const withoutCode = textOf(page).replace(/^ *```[\s\S]*?^ *```/gm, '');
  const seen = new Map<string, number>();
  return new Set(
    Array.from(withoutCode.matchAll(/^#{1,6} (.+)$/gm), ([, heading = '']) => {
      const name = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      const times = seen.get(name) ?? 0;
      seen.set(name, times + 1);
      return times === 0 ? name : `${name}-${times}`;
    }),
  );
}

interface Link {
  readonly page: string;
  readonly target: string;
  readonly anchor: string | undefined;
}

function linksOf(page: string): Link[] {
  const withoutCode = textOf(page).replace(/^ *```[\s\S]*?^ *```/gm, '');
  return Array.from(
    withoutCode.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g),
    ([, target = '', anchor]) => ({
      page,
      target: target === '' ? page : relative(root, join(root, dirname(page), target)),
      anchor,
    }),
  );
}

describe('links of the documentation', () => {
  it('lead to files and headings that are there', () => {
    const links = pages().flatMap(linksOf);
    expect(links.length).toBeGreaterThan(50);
    const broken = links.filter(({ target, anchor }) => {
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && extname(target) === '.md' && !anchorsOf(target).has(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('reach every page from the README', () => {
    // GitHub shows the second one to those who open the folder.
    const reached = new Set(['README.md', 'docs/README.md']);
    for (const page of reached) {
      for (const { target } of linksOf(page)) {
        if (extname(target) === '.md' && existsSync(join(root, target))) reached.add(target);
      }
    }
    expect(pages('docs').filter((page) => !reached.has(page))).toEqual([]);
  });
});
