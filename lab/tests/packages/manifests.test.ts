import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

interface Manifest {
  readonly name: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly bugs?: string;
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string };
  readonly files?: readonly string[];
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
const own = manifestOf('.');
const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);

it.each(folders)(
  '%s says where it comes from, as the repository does, and ships its README and its license',
  (folder) => {
    const { keywords = [], homepage, bugs, repository, description = '', files } = manifestOf(folder);
    // npm compares this URL with the repository from which a release was published.
    expect(repository).toEqual({ ...own.repository, directory: folder });
    const page = own.repository?.url.replace(/^git\+(.*)\.git$/, '$1');
    expect(homepage).toBe(`${page}/tree/main/${folder}#readme`);
    expect(bugs).toBe(`${page}/issues`);
    expect(keywords).toContain('ostiary');
    expect(new Set(keywords).size).toBe(keywords.length);
    expect(keywords.length).toBeGreaterThan(3);
    expect(description.length).toBeGreaterThan(40);
    for (const file of ['README.md', 'LICENSE']) {
      expect(files).toContain(file);
      expect(existsSync(join(root, folder, file))).toBe(true);
    }
  },
);

it('packages that need the core get its version number', () => {
  // Otherwise a minor version of the core would make a patch version of an adapter, whose peer dependency then excludes the
  // core that its users have: `npm install` ends with ERESOLVE.
  const { fixed } = JSON.parse(readFileSync(join(root, '.changeset/config.json'), 'utf8'));
  const needCore = folders
    .map(manifestOf)
    .filter(({ peerDependencies = {} }) => '@ostiary/core' in peerDependencies);
  const names = needCore.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(3);
  expect(fixed).toEqual([['@ostiary/core', ...names, 'create-ostiary']]);
});
