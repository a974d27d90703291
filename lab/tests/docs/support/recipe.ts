import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { root, textOf } from '../../../support/documentation.ts';

/** Makes a folder for the recipes that the tests of one file use. The folder is removed afterwards. */
export function recipeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-recipes-'));
  symlinkSync(join(root, 'lab/node_modules'), join(folder, 'node_modules'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Returns the path of a file in the folder, for a database or similar data. */
  const fileFor = (name: string): string => join(folder, name);

  /** Imports a recipe of the documentation: the unchanged code below the recipe's heading on the page. */
  async function recipe<Exports>(
    heading: string,
    { index = 0, page = 'docs/recipes.md' } = {},
  ): Promise<Exports> {
    const [, section = ''] = textOf(page).split(`\n## ${heading}\n`);
    const [own = ''] = section.split('\n## ');
    const code = Array.from(own.matchAll(/^```ts\n([\s\S]*?)^```/gm), ([, block = '']) => block)[index];
    if (code === undefined) throw new Error(`no recipe ${heading}`);
    const file = fileFor(`${heading.toLowerCase().replace(/\W+/g, '-')}-${index}.ts`);
    writeFileSync(file, code);
    return await import(file);
  }

  return { fileFor, recipe };
}
