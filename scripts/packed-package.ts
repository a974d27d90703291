import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is read of a manifest. */
export interface Manifest {
  readonly name: string;
  readonly exports: { readonly [subpath: string]: unknown };
  readonly [field: string]: unknown;
}

/** Fields that lead to files, with conditions or without. */
const leading = ['exports', 'imports', 'main', 'module', 'types', 'typings', 'browser', 'bin'];

/** Every file that a field leads to, under whatever condition. */
function targetsOf(field: unknown): string[] {
  if (typeof field === 'string') return [field];
  return typeof field === 'object' && field !== null ? Object.values(field).flatMap(targetsOf) : [];
}

/** Where the links and images of a page lead, in Markdown and in HTML. */
function linksOf(page: string): string[] {
  const prose = page.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
  const found = prose.matchAll(/\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*(\S+)|\b(?:src|href)="([^"]*)"/gm);
  return Array.from(found, ([, inline, reference, attribute]) => inline ?? reference ?? attribute ?? '');
}

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/**
 * What would not work for those who install a package: fields that lead to files which are not in it, and links of its
 * README that a registry's page, which has nothing but the README, cannot follow. `folder` is an unpacked tarball.
 */
export function problemsIn(folder: string): string[] {
  const manifest = manifestIn(folder);
  const missing = leading.flatMap((field) =>
    targetsOf(manifest[field])
      .filter((target) => !existsSync(join(folder, target)))
      .map((target) => `${field} leads to ${target}, which is not in the package`),
  );
  const relative = linksOf(readFileSync(join(folder, 'README.md'), 'utf8'))
    .filter((link) => !/^(?:https:|mailto:|#)/.test(link))
    .map((link) => `README.md links to ${link}: write the whole address`);
  return [...missing, ...relative].map((problem) => `${manifest.name}: ${problem}`);
}
