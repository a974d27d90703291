import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { problemsIn } from '../../../scripts/packed-package.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ostiary-packed-'));
  mkdirSync(join(folder, 'dist'));
  for (const file of ['index.js', 'index.d.ts', 'node.js']) writeFileSync(join(folder, 'dist', file), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What is found in a package with these fields and this README. */
function problems(fields: object, readme = 'Nothing to follow.'): string[] {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'a', exports: {}, ...fields }));
  writeFileSync(join(folder, 'README.md'), readme);
  return problemsIn(folder);
}

it('nothing is wrong where everything leads to a file that is there', () => {
  const types = './dist/index.d.ts';
  expect(
    problems({
      main: 'dist/index.js',
      types,
      bin: { a: 'dist/index.js' },
      exports: {
        '.': { types, import: { node: './dist/node.js', default: './dist/index.js' } },
        './package.json': './package.json',
      },
      imports: { '#platform': { default: './dist/node.js' } },
    }),
  ).toEqual([]);
});

it.each([
  ['exports', { '.': { source: './src/index.ts', default: './dist/index.js' } }, './src/index.ts'],
  ['exports', { './b': { require: { types: './dist/b.d.cts' } } }, './dist/b.d.cts'],
  ['exports', './dist/all.js', './dist/all.js'],
  ['imports', { '#platform': { source: { node: './src/node.ts' } } }, './src/node.ts'],
  ['main', 'lib/index.js', 'lib/index.js'],
  ['types', './dist/types.d.ts', './dist/types.d.ts'],
  ['bin', { ostiary: 'cli.js' }, 'cli.js'],
])('a file that %s leads to and that is not shipped is told: %j', (field, value, target) => {
  expect(problems({ [field]: value })).toEqual([
    `a: ${field} leads to ${target}, which is not in the package`,
  ]);
});

it.each([
  ['[docs](../../docs/testing.md)', '../../docs/testing.md'],
  ['![picture](docs/a.png "A title")', 'docs/a.png'],
  ['<img src="images/a.png" width="10">', 'images/a.png'],
  ['[docs]: ./docs.md', './docs.md'],
  ['[plain](http://example.com)', 'http://example.com'],
])('a link that a registry’s page cannot follow is told: %s', (readme, link) => {
  expect(problems({}, readme)).toEqual([`a: README.md links to ${link}: write the whole address`]);
});

it('whole addresses, headings and code are left alone', () => {
  const readme =
    '[a](https://example.com/a.md) [b](#b) [c](mailto:a@example.com) `[d](d.md)`\n\n```md\n[e](e.md)\n```\n';
  expect(problems({}, readme)).toEqual([]);
});
