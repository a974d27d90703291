import { existsSync, globSync, statSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

export const root = resolve(import.meta.dirname, '../..');
export const repository = manifest.repository.url.replace(/^git\+(.*)\.git$/, '$1');

/** Places of pages in the repository, and in the site. The first matching place counts. */
const places: readonly (readonly [glob: string, nameOf: (path: string) => string])[] = [
  ['site/index.md', () => 'index.md'],
  ['docs/README.md', () => 'docs.md'],
  ['docs/*.md', (path) => posix.basename(path)],
  ['docs/reference/*.md', (path) => `reference/${posix.basename(path)}`],
  ['packages/*/README.md', (path) => `packages/${path.split('/')[1]}.md`],
  ['examples/reference-server/README.md', () => 'reference-server.md'],
  ['README.md', () => 'overview.md'],
  ['SECURITY.md', () => 'security.md'],
  ['CONTRIBUTING.md', () => 'contributing.md'],
];

/** Pages of the site by their path in the repository; the value is the path in the site. */
export const pages: ReadonlyMap<string, string> = new Map(
  places
    .toReversed()
    .flatMap(([glob, nameOf]) => globSync(glob, { cwd: root }).map((path) => [path, nameOf(path)] as const)),
);

/** Returns the URL path of a page in the site. */
export function addressOf(page: string): string {
  const name = pages.get(page);
  if (name === undefined) throw new Error(`${page} is no page of the site`);
  return `/${name.replace(/(?:^|(?<=\/))index\.md$/, '').replace(/\.md$/, '')}`;
}

/**
 * Returns where a page's link leads in the site: another page of the site, or the repository. Pages link to
 * each other as files, so that they can be read in the repository, too.
 */
export function siteLink(page: string, link: string): string {
  const [target = '', anchor] = link.split('#');
  const inRepository = /^\/(?:blob|tree)\/main\/(.*)$/.exec(
    target.startsWith(repository) ? target.slice(repository.length) : '',
  )?.[1];
  if (inRepository === undefined && (target === '' || /^(?:[a-z]+:|\/)/.test(target))) return link;
  const path = inRepository ?? posix.join(posix.dirname(page), target);
  const after = anchor === undefined ? '' : `#${anchor}`;
  if (pages.has(path)) return `${addressOf(path)}${after}`;
  const file = join(root, path);
  // Keep a path that does not exist, so that the build reports it.
  if (!existsSync(file)) return link;
  return `${repository}/${statSync(file).isDirectory() ? 'tree' : 'blob'}/main/${path}${after}`;
}
