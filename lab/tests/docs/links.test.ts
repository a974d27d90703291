import { existsSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { pages, root, textOf } from '../../support/documentation.ts';

/**
 * URL of the repository. READMEs of packages link to files with this URL, because package registries show the
 * READMEs, too.
 */
const repository = manifest.repository.url.replace(/^git\+(.*)\.git$/, '$1');

/** Returns the ids of a page's headings, made as GitHub makes them. */
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
  return Array.from(withoutCode.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g), ([, address = '', anchor]) => ({
    page,
    address,
    anchor,
  })).flatMap(({ page, address, anchor }) => {
    const [, inRepository] =
      /^\/(?:blob|tree)\/main\/(.*)$/.exec(
        address.startsWith(repository) ? address.slice(repository.length) : '',
      ) ?? [];
    if (inRepository !== undefined) return [{ page, target: inRepository, anchor }];
    if (/^(?:https?|mailto):/.test(address)) return [];
    const target = address === '' ? page : relative(root, join(root, dirname(page), address));
    return [{ page, target, anchor }];
  });
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

  it('name the repository in which they are, and a version that is there', () => {
    const elsewhere = pages().flatMap((page) =>
      (textOf(page).match(/https:\/\/github\.com\/ostiary\b[^\s)"`]*/g) ?? []).filter(
        (address) => !new RegExp(`^${repository}(?:$|/(?:blob|tree)/main/)`).test(address),
      ),
    );
    expect(elsewhere).toEqual([]);
  });

  it('reach every page from the README', () => {
    // GitHub shows docs/README.md to readers who open the folder.
    const reached = new Set(['README.md', 'docs/README.md']);
    for (const page of reached) {
      for (const { target } of linksOf(page)) {
        if (extname(target) === '.md' && existsSync(join(root, target))) reached.add(target);
      }
    }
    expect(pages('docs').filter((page) => !reached.has(page))).toEqual([]);
  });
});
